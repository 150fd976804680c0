"""What the package's own source never does.

Most of it ruff's S rules refuse in `make check` (pickle, marshal and shelve in use, eval, exec,
`yaml.load`, ``shell=True``, assert, `mktemp`, ``verify=False``, Jinja without autoescape). Here is
that they are on, and what they leave out.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from temperance.cli_root import root
from temperance.inbox.settings import InboxSettings, is_loopback
from temperance.runtime.actor import Actor
from temperance.server_command import LOOPBACK
from tests.mutations.mutation import ROOT

ROOMS = ("facade", "workflows", "activities", "runtime")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))

UNSAFE_MODULES = {
    *("cPickle", "cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "pickle", "shelve"),
    *("code", "codeop", "ctypes", "pdb", "xmlrpc"),
}
"""They read code out of data, or run what they are given."""

UNSAFE_CALLS = {"__import__", "compile", "eval", "exec"}
UNSAFE_NAMES = {"CERT_NONE", "check_hostname", "_create_unverified_context", "Markup"}

KNOWN_EXCEPTIONS = {"facade/server_command.py: S311"}
"""Where a rule of ruff's is switched off in place: random chooses a port."""


def test_ruffs_rules_of_security_hold_in_the_package() -> None:
    """All of them, in every file, but where the exception is known."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    assert not [rule for rule in lint["ignore"] if re.fullmatch(r"S\d+", rule)]
    for pattern, rules in lint["per-file-ignores"].items():
        if not pattern.startswith(("tests/", "examples/", "benchmarks/")):
            assert not [rule for rule in rules if re.fullmatch(r"S\d+", rule)], pattern
    found = {
        f"{path.relative_to(ROOT)}: {rule}"
        for path in SOURCES
        for line in re.findall(r"noqa:([^#\n]*)", path.read_text())
        for rule in re.findall(r"\bS\d+\b", line)
    }
    assert found == KNOWN_EXCEPTIONS
    assert not [path for path in SOURCES if re.search(r"ruff: *noqa|# noqa(?!:)", path.read_text())]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_runs_what_it_is_given_or_trusts_whom_it_does_not_know(path: Path) -> None:
    """Not even imported; TLS is checked wherever it is used."""
    assert list(unsafe_in(ast.parse(path.read_text()))) == []


def unsafe_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (n.name for n in names if n.name.partition(".")[0] in UNSAFE_MODULES)
            case ast.ImportFrom(module=str(module), level=0):
                if module.partition(".")[0] in UNSAFE_MODULES:
                    yield module
            case ast.Call(func=ast.Name(id=name)) if name in UNSAFE_CALLS:
                yield name
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in UNSAFE_NAMES:
                yield name
            case _:
                pass


def test_what_is_unsafe_is_found() -> None:
    source = """
import pickle.whatever
from marshal import loads
compile("1", "x", "eval")
context.verify_mode = ssl.CERT_NONE
"""
    found = ["pickle.whatever", "marshal", "compile", "CERT_NONE"]
    assert sorted(unsafe_in(ast.parse(source))) == sorted(found)


@pytest.mark.parametrize("path", sorted((ROOT / "facade").rglob("*.html")), ids=lambda p: p.name)
def test_no_template_switches_the_escaping_off(path: Path) -> None:
    """Neither for a value nor for a block; and no page carries a script."""
    assert not re.search(r"\|\s*safe\b|autoescape|<script|\son\w+=", path.read_text())


def options_of(command: click.Command, path: str = "temperance") -> Iterator[tuple[str, Any]]:
    """Every option of the command line, by command and name."""
    for parameter in command.params:
        yield f"{path} {max(parameter.opts, key=len)}", parameter
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from options_of(inner, f"{path} {name}")


OPTIONS = dict(options_of(root))


def test_nothing_listens_where_other_machines_reach_it_unless_told_to() -> None:
    """By default: the inbox, the embedded server, and every option that says where to listen."""
    inbox = InboxSettings(port=1, approver=Actor(id="ada"))
    hosts = {
        name: option.default
        for name, option in OPTIONS.items()
        if re.search(r"--(host|ip|bind|listen)\b", name)
    }
    assert hosts
    assert all(is_loopback(str(host)) for host in (*hosts.values(), inbox.host, LOOPBACK)), hosts


def test_no_option_takes_a_secret_that_other_users_could_read() -> None:
    """The list of processes shows arguments: an API key comes from the environment or a profile."""
    assert len(OPTIONS) > 30
    secret = re.compile(r"key|token|secret|password|credential|auth\b", re.IGNORECASE)
    assert [name for name in OPTIONS if secret.search(name.rpartition(" ")[2])] == []
