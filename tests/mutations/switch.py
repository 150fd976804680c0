"""Switches a guard off in this process, before the library is imported.

An import hook gives the module without the guard to whoever imports it first, so that also those
hold the changed function who take it by its name. Processes that a test starts do the same: they
find `site/sitecustomize.py` on their path, and the mutation in their environment.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutations.mutation import ROOT, Mutation

MUTATION = "TEMPERANCE_MUTATION"
"""The environment variable with the mutation, as JSON."""

REPORT = "TEMPERANCE_MUTATION_REPORT"
"""The environment variable with the file to which each process without the guard adds a line."""


class _Loader(SourceFileLoader):
    def __init__(self, mutation: Mutation, path: str) -> None:
        super().__init__(mutation.module, path)
        self._mutation = mutation

    def get_code(self, fullname: str) -> CodeType:
        # Neither read from a cache of bytecode nor written to one.
        path = self.get_filename(fullname)
        source = self._mutation.applied_to(self.get_data(path).decode())
        code: CodeType = self.source_to_code(source.encode(), path)
        with Path(os.environ[REPORT]).open("a") as report:
            report.write(f"{os.getpid()}\n")
        return code


class _Finder(MetaPathFinder):
    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._mutation.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(self._mutation, spec.origin)
        return spec


def install() -> None:
    """Switches off what the environment names, in this process and those that it starts.

    Raises:
        RuntimeError: The library was imported before.
    """
    if any(name.partition(".")[0] == "temperance" for name in sys.modules):
        raise RuntimeError("a guard cannot be switched off in a library that is there already")
    paths = (str(ROOT / "tests" / "mutations" / "site"), str(ROOT), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    sys.meta_path.insert(0, _Finder(Mutation.from_json(os.environ[MUTATION])))
