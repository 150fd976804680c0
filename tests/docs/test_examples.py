"""Every Python block that a reader may run is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page, in order."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def run(code: str, folder: Path) -> str:
    """Runs code as a script, as a reader would."""
    script = folder / "example.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_readme_example_runs_on_a_real_server(tmp_path: Path) -> None:
    """Thirty lines: a server, a worker, a workflow, one governed write."""
    [code] = blocks(ROOT / "README.md")
    output = run(code, tmp_path)
    assert re.search(r"order='o-17' key='[0-9a-f-]{36}'", output)


@pytest.mark.parametrize(
    "page",
    [
        "docs/getting-started.md",
        "docs/how-to/approve.md",
        "docs/how-to/inbox-behind-your-login.md",
        "docs/how-to/settle-unknown-outcomes.md",
        "docs/reference/errors.md",
        "docs/reference/metadata.md",
    ],
)
def test_the_blocks_of_a_page_run_in_order(page: str, tmp_path: Path) -> None:
    """The blocks of a page build on each other."""
    run("\n\n".join(blocks(ROOT / page)), tmp_path)
