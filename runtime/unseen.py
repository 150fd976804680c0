"""An outcome that only the workflow could see, on its way to the audit (DESIGN section 9)."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from .error import CapabilityError, ErrorCode, Stage
from .names import Effect, Verdict


class Unseen(BaseModel):
    """An outcome that only the workflow could see, for the local activity that records it.

    Args:
        capability: What was asked for.
        ask: The `Ask`, as it would have gone to the activity.
        step: The step id.
        code: The error's code.
        stage: Where it ended.
        effect: What is known of the world.
        attempts: How many attempts were started, as far as is known.
        cancelled: Whether the caller's cancellation ended it.
        requested: Whether ``capability.requested`` is to be recorded too: no worker saw the
            request.
        reason: The true reason.
        verdict: Set where a question what became of it had no answer: that is recorded, instead
            of the end.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    capability: str
    ask: str = Field(repr=False)
    step: str
    code: ErrorCode
    stage: Stage
    effect: Effect
    attempts: int
    cancelled: bool = False
    requested: bool = False
    reason: str | None = None
    verdict: Verdict | None = None

    def error(self) -> CapabilityError:
        """The error it stands for."""
        return CapabilityError(self.code, stage=self.stage, audit_reason=self.reason)


UNSEEN: Final = TypeAdapter(Unseen)
