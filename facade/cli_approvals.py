"""`temperance approvals`: what waits for a person, and the decisions of people (G3)."""

import click

from temperance.cli_approvals_decide import approve, cancel, reject
from temperance.cli_approvals_list import list_
from temperance.cli_approvals_serve import serve
from temperance.cli_approvals_show import show


@click.group(short_help="Show what waits for a person's decision, and decide it.")
def approvals() -> None:
    """Show what waits for a person's decision, and decide it.

    An approval binds the exact input, is used once, and expires. Whoever asked may not decide.
    """


approvals.add_command(list_)
approvals.add_command(show)
approvals.add_command(approve)
approvals.add_command(reject)
approvals.add_command(cancel)
approvals.add_command(serve)
