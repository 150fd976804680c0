"""What `MODULE:NAME` on the command line stands for, and what is said where it is nothing."""

import importlib
import os
import sys
import traceback
from difflib import get_close_matches
from inspect import isfunction
from pathlib import Path
from types import ModuleType

from temperance.cli_exit import CommandFailed, ExitCode
from temperance.runtime.app import App
from temperance.runtime.error import ConfigurationError

_NOT_A_FILE = "MODULE is a dotted name, not the path of a file"


def load_app(target: str) -> App:
    """The application that a target names.

    Args:
        target: ``MODULE:NAME``, the name a dotted path inside the module. Modules are also found in
            the current directory.

    Raises:
        CommandFailed: It names nothing, or no `App`; or the module cannot be imported.
        ConfigurationError: The application is put together wrongly.
    """
    found = _load(target)
    if isinstance(found, App):
        return found
    hint = "name the App itself, made at the module's top level"
    if isfunction(found):
        hint = "call it in the module (app = ...), and name what it gives"
    raise CommandFailed(
        f"{target} is not an App: it is {_kind_of(found)}", code=ExitCode.USAGE, more=[hint]
    )


def load_workflow(target: str) -> type:
    """The workflow class that a target names.

    Raises:
        CommandFailed: As `load_app` says; or it is no workflow class.
    """
    found = _load(target)
    if isinstance(found, type) and hasattr(found, "__temporal_workflow_definition"):
        return found
    raise CommandFailed(
        f"{target} is not a workflow: it is {_kind_of(found)}",
        code=ExitCode.USAGE,
        more=["name a class that is decorated with @workflow.defn"],
    )


def _load(target: str) -> object:
    module_name, colon, path = target.partition(":")
    well_formed = all(step.isidentifier() for step in f"{module_name}.{path}".split("."))
    if not colon or not well_formed:
        more = ["write MODULE:NAME, such as shop.app:app"]
        if "/" in module_name or os.sep in module_name:
            more.append(_NOT_A_FILE)
        raise CommandFailed(f"{target!r} names nothing", code=ExitCode.USAGE, more=more)
    # The program's own folder is first in sys.path, not the user's: as uvicorn does.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    found: object = _import(module_name)
    where = module_name
    for step in path.split("."):
        try:
            found = getattr(found, step)
        except AttributeError:
            raise _absent(step, where, found) from None
        where = f"{where}.{step}"
    return found


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ConfigurationError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            more = [f"looked in {Path.cwd()} and where Python looks; run this where the module is"]
            if name.endswith(".py"):
                more.append(_NOT_A_FILE)
            raise CommandFailed(
                f"there is no module {error.name!r}", code=ExitCode.USAGE, more=more
            ) from None
        raise _broken(name, error) from None
    # Whatever the module raises, SystemExit included, is told in its own words.
    except (Exception, SystemExit) as error:  # noqa: BLE001
        raise _broken(name, error) from None


def _broken(name: str, error: BaseException) -> CommandFailed:
    last = traceback.format_exception_only(error)[-1].strip()
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen ") and frame.filename != importlib.__file__
    ]
    more = [last]
    if isinstance(error, SyntaxError) and error.filename:
        more.append(f"at {_short(error.filename)}, line {error.lineno}")
    elif len(frames) > 1:
        more.append(f"at {_short(frames[-1].filename)}, line {frames[-1].lineno}")
    return CommandFailed(
        f"module {name!r} cannot be imported", code=ExitCode.NOT_SERVABLE, more=more
    )


def _absent(step: str, where: str, owner: object) -> CommandFailed:
    there: dict[str, object] = dict(vars(owner)) if hasattr(owner, "__dict__") else {}
    near = get_close_matches(step, there, n=1)
    more = [f"did you mean {near[0]!r}?"] if near else []
    apps = [name for name, value in there.items() if isinstance(value, App)]
    if apps:
        more.append(f"it has the App {', '.join(apps)}")
    return CommandFailed(f"there is no {step!r} in {where}", code=ExitCode.USAGE, more=more)


def _kind_of(found: object) -> str:
    if isinstance(found, type):
        return "a class"
    return "a function" if isfunction(found) else f"of type {type(found).__qualname__}"


def _short(file: str) -> str:
    try:
        return os.path.relpath(file) if Path(file).is_relative_to(Path.cwd()) else file
    except ValueError:
        return file
