"""The command `temperance`: its sub-commands, its version, its exit codes."""

from collections.abc import Sequence
from importlib.metadata import version

import click

from temperance.cli_approvals import approvals
from temperance.cli_dev import dev
from temperance.cli_exit import MEANINGS, end
from temperance.cli_inspect import inspect
from temperance.cli_invoke import invoke
from temperance.cli_worker import worker


class _Root(click.Group):
    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), said) for code, said in MEANINGS.items()])


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("temperance"), message="%(prog)s %(version)s")
def root() -> None:
    """Governed capabilities that run durably on Temporal.

    Results go to standard output, everything else to standard error.
    """


root.add_command(approvals)
root.add_command(dev)
root.add_command(inspect)
root.add_command(invoke)
root.add_command(worker)


def run(arguments: Sequence[str]) -> int:
    """Runs the command line, and returns the exit code.

    Args:
        arguments: As the shell gives them, without the program's name.
    """
    return end(root, arguments)
