"""`MODULE:APP` on the command line, and what is said when it names nothing."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from temperance.cli_root import run
from tests.support.command_line import APPS

Told = Callable[..., tuple[int, str]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Told]:
    """Runs the command line in this process, in the folder of the applications."""
    monkeypatch.chdir(APPS)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(APPS)])
    before = set(sys.modules)

    def tell(*arguments: str) -> tuple[int, str]:
        code = run(arguments)
        return code, capsys.readouterr().err

    yield tell
    for name in set(sys.modules) - before:
        if str(APPS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_a_module_is_found_in_the_current_directory(told: Told) -> None:
    """Also where Python itself does not look there (PYTHONSAFEPATH)."""
    assert told("inspect", "shop:app") == (0, "")


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("shop", 2, ["'shop' names nothing", "write MODULE:NAME"]),
        (":app", 2, ["':app' names nothing"]),
        ("shop:", 2, ["'shop:' names nothing"]),
        ("./shop.py:app", 2, ["names nothing", "not the path of a file"]),
        ("shop.py:app", 2, ["there is no module 'shop.py'", "not the path of a file"]),
        ("no_shop:app", 2, ["there is no module 'no_shop'", f"looked in {APPS}"]),
        ("shop:ap", 2, ["there is no 'ap' in shop", "did you mean 'app'?", "it has the App app"]),
        ("shop:app.nothing", 2, ["there is no 'nothing' in shop.app"]),
        ("shop:refund", 2, ["shop:refund is not an App: it is of type Capability"]),
        ("shop:Order", 2, ["shop:Order is not an App: it is a class"]),
        ("shop:make_app", 2, ["it is a function", "call it in the module"]),
        (
            "broken_import:app",
            6,
            [
                "module 'broken_import' cannot be imported",
                "ModuleNotFoundError: No module named 'no_such_dependency'",
                "at broken_import.py, line 3",
            ],
        ),
        (
            "broken_setting:app",
            6,
            ["KeyError: 'SHOP_DATABASE_THAT_NOBODY_SET'", "at broken_setting.py, line 5"],
        ),
        ("broken_exit:app", 6, ["SystemExit: the licence has expired"]),
    ],
)
def test_what_is_wrong_with_a_target_is_said_with_where_and_what_to_do(
    told: Told, target: str, code: int, said: list[str]
) -> None:
    """One short message, no traceback; an error inside the module in the module's own words."""
    ended, err = told("inspect", target)
    assert ended == code
    for words in said:
        assert words in err
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 4


def test_a_module_with_a_syntax_error_is_told_with_its_line(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last frame would be the import machinery's."""
    (tmp_path / "broken_syntax.py").write_text('"""No Python."""\n\napp = = 1\n')
    monkeypatch.chdir(tmp_path)
    code, err = told("inspect", "broken_syntax:app")
    assert code == 6
    assert "SyntaxError: invalid syntax" in err
    assert "at broken_syntax.py, line 3" in err


def test_an_application_with_wrong_metadata_lists_every_problem(told: Told) -> None:
    """Although it is raised while the module is imported."""
    code, err = told("inspect", "ungovernable:app")
    assert code == 6
    assert err.startswith("error: the application cannot be served\n")
    assert "wrong.write" in err
    assert "idempotent=True" in err
    assert "wrong.empty" in err
    assert "description is empty" in err
    assert "Traceback" not in err
