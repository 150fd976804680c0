"""An application whose requesters may approve their own requests."""

from shop import erase  # type: ignore[import-not-found] # top level where it is run

from temperance import Actor, App, ApprovalRecord, Governance


def anybody(approver: Actor, record: ApprovalRecord) -> bool:
    """Nobody is left out."""
    del approver, record
    return True


app = App(
    Governance([erase]),
    may_approve=anybody,
    reject_self_approval=False,
    self_approval_reason="One person runs the shop.",
)
