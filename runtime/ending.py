"""The details of a failed activity: how an execution ended, for whoever asked."""

from dataclasses import dataclass
from typing import Final, cast, get_args

from pydantic import JsonValue

from .error import CODES, ErrorCode, ErrorInfo, Stage
from .names import Effect
from .wire import as_object, effect, read_head, text, write_head

_EFFECTS: Final = get_args(Effect)
_STAGES: Final = get_args(Stage)


@dataclass(frozen=True, slots=True)
class Ending:
    """The details of a failed activity, beside its type (the code) and its message.

    Args:
        info: The error's public face.
        effect: What is known of the world.
        attempts: How many attempts it took.
        errors: Codes of the attempts before the last.
        execution_id: Where it is not the one that the asking run would derive.
        repeat_of: Likewise, the execution that asked for the same before.
        cancelled: Whether the caller's cancellation ended it.
    """

    info: ErrorInfo
    effect: Effect
    attempts: int = 1
    errors: tuple[str, ...] = ()
    execution_id: str | None = None
    repeat_of: str | None = None
    cancelled: bool = False

    def details(self) -> dict[str, JsonValue]:
        """As the failure's one detail."""
        wire = write_head(self.attempts, self.errors, self.execution_id, self.repeat_of)
        wire["effect"] = self.effect
        wire["stage"] = self.info.stage
        if self.cancelled:
            wire["cancelled"] = True
        if self.info.retryable:
            wire["retryable"] = True
        if self.info.reason is not None:
            wire["reason"] = self.info.reason
        if self.info.details is not None:
            wire["details"] = self.info.details
        return wire

    @classmethod
    def from_failure(cls, type_: str | None, message: str, detail: object) -> "Ending | None":
        """Reads a failure; ``None`` where it is not one of ours.

        Args:
            type_: The failure's type.
            message: Its message.
            detail: Its first detail.
        """
        wire = as_object(detail)
        if wire is None or wire.get("effect") not in _EFFECTS:
            return None
        code: ErrorCode = cast(ErrorCode, type_) if type_ in CODES else "EXECUTION_FAILED"
        stage = wire.get("stage")
        attempts, errors, execution_id, repeat_of = read_head(wire)
        return cls(
            info=ErrorInfo(
                code=code,
                message=message,
                stage=cast(Stage, stage) if stage in _STAGES else CODES[code].stage,
                retryable=wire.get("retryable") is True,
                reason=text(wire.get("reason")),
                details=cast(JsonValue, wire.get("details")),
            ),
            effect=effect(wire.get("effect"), "possible"),
            attempts=attempts,
            errors=errors,
            execution_id=execution_id,
            repeat_of=repeat_of,
            cancelled=wire.get("cancelled") is True,
        )
