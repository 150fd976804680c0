"""The command line: `temperance worker`, `dev`, `invoke`, `inspect`, `approvals`.

It needs the extra `cli` (click and rich). This module needs neither, so that without them one line
says what to install.
"""

import sys
from importlib import import_module

_NEEDED = ("click", "rich")


def main() -> None:
    """Runs the command line with this process's arguments, and exits with its code."""
    for name in _NEEDED:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            sys.stderr.write(f"the command line needs {name}: pip install 'temperance[cli]'\n")
            sys.exit(2)
    from temperance.cli_root import run

    code = run(sys.argv[1:])
    if "temporalio.bridge.runtime" in sys.modules:
        from temperance.leaving import leave

        leave(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
