"""Records that a request joined the approval which an identical one has pending (DESIGN section 7).

Its execution ends there: nothing is run on its behalf, and it is told what the other comes to.
"""

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from ..runtime.approval_note import ApprovalNote
from ..runtime.envelope import ApprovalRequired
from ..runtime.messages import Ask
from ..runtime.names import RECORD_APPROVAL_ACTIVITY
from .cancellation import Cancellations
from .pending import Pending
from .unseen import ATTEMPTS, TIMEOUT


async def record_joined(
    pending: Pending, ask: Ask, envelope: ApprovalRequired, cancellations: Cancellations
) -> None:
    """Closes the trail of a request that joins another one.

    Args:
        pending: The approval that it joins.
        ask: Its own request context.
        envelope: What its attempt answered.
        cancellations: Remember a cancellation that arrives meanwhile: it does not stop the record.
    """
    handle = workflow.start_local_activity(
        RECORD_APPROVAL_ACTIVITY,
        ApprovalNote(
            record=pending.record,
            types=("capability.approval_joined",),
            execution_id=envelope.execution_id,
            effect="none",
            correlation_id=ask.correlation_id,
            repeat_of=envelope.repeat_of,
        ),
        start_to_close_timeout=TIMEOUT,
        retry_policy=RetryPolicy(maximum_attempts=ATTEMPTS),
    )
    await cancellations.until_done(handle, stop=False)
    failure = handle.exception()
    if isinstance(failure, ActivityError):
        reason = type(failure.cause).__name__
        workflow.logger.warning("a joined request was not recorded: %s", reason)
