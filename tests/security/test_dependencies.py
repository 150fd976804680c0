"""What is installed is pinned by hash, and no file says where it comes from.

Whether a pinned version has a known weakness only an advisory service knows: `make audit`.
"""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mutations.mutation import ROOT

LOCKS = [ROOT / "requirements.lock", *sorted((ROOT / "benchmarks").rglob("*.lock"))]

PINNED = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9._-]*)(\[[a-z0-9,_-]+\])?==[0-9][^\s;]*( ;.*)?",
)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")

SOURCES_OF_PACKAGES = re.compile(
    r"""
    (?<!no-emit-)(?:index-url|find-links)\s*[=\s]   # options of pip and uv
    | (?:PIP|UV)_(?:EXTRA_|DEFAULT_)?INDEX | trusted-host
    | \[\[?tool\.uv\.(?:index|sources) | index-url"?\s*[:=]
    | ://[^\s/"'@:]{2,}:[^\s/"'@]{2,}@                        # a user and a password
    | https?://(?:[\w.-]*\.)?(?:pypi|registry|mirrors?|artifactory|nexus|devpi)\b
    | https?://[^\s"')]+/simple\b
    | https?://(?!127\.)\d+\.\d+\.\d+\.\d+
    """,
    re.VERBOSE | re.IGNORECASE,
)


def requirements_in(lock: Path) -> Iterator[list[str]]:
    """The lines of each requirement: its pin, then its hashes."""
    lines = (line.strip().removesuffix("\\").strip() for line in lock.read_text().splitlines())
    group: list[str] = []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if not line.startswith("--hash"):
            if group:
                yield group
            group = []
        group.append(line)
    if group:
        yield group


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_dependency_is_one_version_and_one_of_its_known_files(lock: Path) -> None:
    """So that nobody can put another file under the same name and version."""
    requirements = list(requirements_in(lock))
    assert requirements
    for pin, *hashes in requirements:
        assert PINNED.fullmatch(pin), pin
        assert hashes, pin
        assert all(HASH.fullmatch(line) for line in hashes), pin


def test_everything_that_the_package_asks_for_is_pinned() -> None:
    """Dependencies, extras and groups; what they need in turn the installer asks for."""
    project: Any = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups: list[list[object]] = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    asked = [entry for group in groups for entry in group if isinstance(entry, str)]
    names = {re.split(r"[\[<>=;~! ]", entry, maxsplit=1)[0] for entry in asked}
    pinned = {
        found["name"]
        for lock in LOCKS
        for pin, *_ in requirements_in(lock)
        if (found := PINNED.fullmatch(pin))
    }
    assert names - pinned == set()


def test_what_is_installed_is_checked_against_its_hashes() -> None:
    """The verbs install nothing else but the package itself."""
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"-m pip install .*(?:\\\n.*)*", makefile)
    assert "--require-hashes -r requirements.lock" in installs[0]
    for line in installs:
        assert "--require-hashes" in line or "--no-deps" in line, line


def test_no_file_says_where_packages_come_from() -> None:
    """That is the business of whoever installs; and an address may carry a password."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no checkout: which files belong to it, only git knows")
    found: list[str] = []
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if not path.is_file() or path == Path(__file__):
            continue
        text = path.read_text(errors="replace")
        found += [f"{name}: {hit.group()}" for hit in SOURCES_OF_PACKAGES.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://packages.example/",
        "index-url = https://packages.example",
        "UV_INDEX_URL=there",
        "https://user:word@packages.example",
        "https://pypi.example/simple",
        "https://packages.example/simple/",
        "http://10.0.0.1:8080",
        "[[tool.uv.index]]",
    ],
)
def test_whatever_says_where_packages_come_from_is_found(line: str) -> None:
    assert SOURCES_OF_PACKAGES.search(line)
