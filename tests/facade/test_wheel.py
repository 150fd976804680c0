"""What is installed: every file of the rooms, templates and styles included."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("facade", "workflows", "activities", "runtime")
SHIPPED = {".py", ".typed", ".html", ".css"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from a copy so that nothing is left in the tree."""
    source = tmp_path_factory.mktemp("source")
    for name in ROOMS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    built = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    offline = ["--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*command, *offline, "--wheel-dir", built, source], check=True, cwd=source)
    (made,) = built.glob("temperance-*.whl")
    return made


def test_a_wheel_has_every_file_of_the_rooms(wheel: Path) -> None:
    """Under the names that people import."""
    expected = {
        "/".join(["temperance", *([] if room == "facade" else [room]), *path.parts])
        for room in ROOMS
        for file in (ROOT / room).rglob("*")
        if file.suffix in SHIPPED and "__pycache__" not in file.parts
        for path in [file.relative_to(ROOT / room)]
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == expected


def test_the_inbox_finds_its_pages_where_it_was_installed(wheel: Path, tmp_path: Path) -> None:
    """Not only in the links of an editable install."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "import temperance.inbox.site as site;"
        "from temperance.inbox.rendering import ENVIRONMENT;"
        "assert len(site._CSS) > 1000;"
        "print(site.__file__, *ENVIRONMENT.list_templates())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    file, *templates = done.stdout.split()
    assert file.startswith(str(tmp_path))
    assert {"approval.html", "base.html", "list.html", "message.html"} <= set(templates)
