"""The approval that comes with a request, and the execution that it authorizes (G3)."""

from temporalio import activity

from ..runtime.approval import Grant, approval_id
from ..runtime.messages import Ask
from ..runtime.names import APPROVAL_WORKFLOW
from .identity import Identity


def grant_of(info: activity.Info, ask: Ask | None) -> Grant | None:
    """The approval that came with a request, if an approval workflow sent it, and its own.

    Args:
        info: The activity's own info: the server says which workflow it belongs to.
        ask: The request context.

    Returns:
        ``None`` where none came, or from elsewhere: then the request is one like any other.
    """
    if ask is None or ask.grant is None or info.workflow_type != APPROVAL_WORKFLOW:
        return None
    return ask.grant if info.workflow_id == approval_id(ask.grant.execution_id) else None


def authorized(identity: Identity, ask: Ask | None, grant: Grant | None) -> Identity:
    """The execution that an attempt belongs to: the one that asked, where it was approved.

    Args:
        identity: As the attempt's own place gives it.
        ask: The request context.
        grant: The approval, as `grant_of` gives it.
    """
    if ask is None or grant is None:
        return identity
    return identity._replace(execution_id=grant.execution_id, told=True, repeat_of=ask.repeat_of)
