"""What the command line says when something is wrong, and the code that it ends with.

Every error ends here: what is wrong, where, and what to do, on standard error. A traceback is shown
for what nobody foresaw only, and never with local variables, which may hold secrets.
"""

import sys
import traceback
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

import click

from temperance.cli_text import ReaderGone


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1
    USAGE = 2
    APPROVAL_REQUIRED = 3
    CANCELLED = 4
    UNREACHABLE = 5
    NOT_SERVABLE = 6
    UNANSWERED = 7
    DEFECT = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS: Final[dict[ExitCode, str]] = {
    ExitCode.OK: "completed; decided; or stopped as asked, and drained",
    ExitCode.FAILED: "the execution failed, or the decision was refused: the answer says why",
    ExitCode.USAGE: "the command is wrong, or the extra `cli` is missing",
    ExitCode.APPROVAL_REQUIRED: "a person must approve first; nothing was run",
    ExitCode.CANCELLED: "the execution was cancelled",
    ExitCode.UNREACHABLE: "no server: not reachable, refuses, or cannot be started",
    ExitCode.NOT_SERVABLE: "the application cannot be served; every reason is listed",
    ExitCode.UNANSWERED: "no worker answered: a decision that was sent may still count",
    ExitCode.DEFECT: "something that nobody foresaw, with a traceback",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
    ExitCode.BROKEN_PIPE: "nobody reads the output any more",
}
"""Every exit code, as `temperance --help` tells it."""


class CommandFailed(Exception):
    """Raised by a command that cannot go on.

    Args:
        what: What is wrong, and where.
        code: The exit code.
        more: Further lines: what to do, a list of reasons.
    """

    def __init__(self, what: str, *, code: ExitCode, more: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.code = code
        self.more = tuple(more)


def end(command: click.Command, arguments: Sequence[str]) -> int:
    """Runs a command, tells what went wrong, and returns the exit code.

    Args:
        command: The command.
        arguments: Its arguments, without the program's name.
    """
    try:
        code: object = command.main(
            args=list(arguments), prog_name="temperance", standalone_mode=False
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.OK
    except click.ClickException as error:
        return _tell_of_usage(error)
    except (click.Abort, KeyboardInterrupt):
        return _tell(CommandFailed("interrupted", code=ExitCode.INTERRUPTED))
    except (ReaderGone, BrokenPipeError):
        return _leave_pipe()
    except Exception as error:  # noqa: BLE001 - the one place where every error ends
        return _tell_any(error)


def _tell(failed: CommandFailed) -> int:
    lines = [f"error: {failed.what}", *(f"  {line}" for line in failed.more)]
    click.echo("\n".join(lines), err=True)
    return failed.code


def _tell_any(error: Exception) -> int:
    failed = next(_known(error), None)
    if failed is not None:
        return _tell(failed)
    click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    more = ["this is a defect, of temperance or of what it runs: please report the lines above"]
    return _tell(CommandFailed("unforeseen", code=ExitCode.DEFECT, more=more))


def _known(error: Exception) -> Iterator[CommandFailed]:
    # Imported here: these modules are there already where such an error comes from them, and a
    # person who asks for help does not wait for them.
    if isinstance(error, CommandFailed):
        yield error
    from temperance.connection import ConnectionFailed
    from temperance.runtime.error import ConfigurationError
    from temperance.server_error import EmbeddedServerError, ServerStartFailed

    if isinstance(error, ConfigurationError):
        yield CommandFailed(
            "the application cannot be served", code=ExitCode.NOT_SERVABLE, more=error.problems
        )
    if isinstance(error, ConnectionFailed | EmbeddedServerError):
        tail = error.log_tail if isinstance(error, ServerStartFailed) else ()
        yield CommandFailed(str(error), code=ExitCode.UNREACHABLE, more=tail)
    from temporalio.service import RPCError

    if isinstance(error, RPCError):
        more = {
            "NOT_FOUND": ["choose another namespace with --namespace"],
            "UNIMPLEMENTED": ["the server is too old for this: temperance needs 1.31 or newer"],
            "UNAVAILABLE": ["the server went away; what it has accepted goes on when it is back"],
        }.get(error.status.name, [])
        yield CommandFailed(
            f"the server answered {error.status.name}: {error.message}",
            code=ExitCode.UNREACHABLE,
            more=more,
        )


def _tell_of_usage(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    more: list[str] = []
    if isinstance(error, click.UsageError) and error.ctx is not None:
        more.append(" ".join(error.ctx.get_usage().split()))
        more.append(f"`{error.ctx.command_path} --help` says more")
    return _tell(CommandFailed(error.format_message(), code=ExitCode.USAGE, more=more))


def _leave_pipe() -> int:
    # What is still in the buffer would raise again when the interpreter ends.
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.BROKEN_PIPE
