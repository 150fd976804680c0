"""What travels between workflow and activity, as bytes of JSON (DESIGN sections 6 and 12).

The two middle rooms do not import each other: they meet here. History is paid for by the byte, so
what is usual is left out: a first attempt names no attempts, a first request names no repeat.

    input     the capability's input, as it was given
    Ask       {"run": original run id, "actor": "user:ada", "via": "agent", ...}
    reply     {"output": ...} or {"approval": {...}}, led by attempts, errors and id where needed
    Ending    the details of a failure: {"effect": "possible", "stage": "handler", ...}
    Carry     heartbeat details: what one attempt tells the next
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast, get_args

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from .actor import Actor, ActorKind
from .call import Asked
from .error import CODES, CapabilityError, ErrorCode, ErrorInfo, Stage
from .names import SURFACES, Effect, Surface

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_OUTPUT: Final = b'{"output":'
_EFFECTS: Final = get_args(Effect)
_STAGES: Final = get_args(Stage)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a workflow or client sends beside the input.

    Args:
        actor: The requester.
        surface: Through which door.
        origin: ``original_execution_run_id`` of the asking run; ``None`` from a client.
        workflow_attempt: Over 1 in a run that a workflow-level retry started.
        repeat_of: Step id of the first execution in this run that asked for the same.
        correlation_id: The application's own id.
    """

    actor: Actor
    surface: Surface
    origin: str | None = None
    workflow_attempt: int = 1
    repeat_of: str | None = None
    correlation_id: str | None = None

    def to_json(self) -> bytes:
        """As bytes of JSON."""
        wire: dict[str, JsonValue] = {}
        if self.origin is not None:
            wire["run"] = self.origin
        wire["actor"] = str(self.actor)
        if self.actor.attributes:
            wire["attributes"] = self.actor.attributes
        wire["via"] = self.surface
        if self.workflow_attempt > 1:
            wire["retry"] = self.workflow_attempt
        if self.repeat_of is not None:
            wire["repeats"] = self.repeat_of
        if self.correlation_id is not None:
            wire["correlation"] = self.correlation_id
        return _encode(wire).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Ask":
        """Reads what `to_json` wrote.

        Raises:
            ValueError: Not an `Ask`. The message does not repeat the data.
        """
        try:
            wire = from_json(data)
        except ValueError:
            raise ValueError("the request context is not JSON") from None
        if not isinstance(wire, dict):
            # One error type for whatever is wrong with the bytes.
            raise ValueError("the request context is not an object")  # noqa: TRY004
        kind, _, name = str(wire.get("actor")).partition(":")
        surface = wire.get("via")
        if surface not in SURFACES:
            raise ValueError("the request context names no known surface")
        try:
            actor = Actor(
                id=name, kind=cast(ActorKind, kind), attributes=wire.get("attributes") or {}
            )
        except ValidationError:
            raise ValueError("the request context names no well-formed actor") from None
        retry = wire.get("retry", 1)
        return cls(
            actor=actor,
            surface=surface,
            origin=_text(wire.get("run")),
            workflow_attempt=retry if isinstance(retry, int) else 1,
            repeat_of=_text(wire.get("repeats")),
            correlation_id=_text(wire.get("correlation")),
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a successful activity answers: an output or a demand for approval.

    Args:
        output: The output as bytes of JSON.
        asked: That a person must approve.
        attempts: How many attempts it took.
        errors: Codes of the attempts before the last.
        execution_id: Where it is not the one that the asking run would derive.
        effect: ``done`` unless middleware answered in the handler's place.
    """

    output: bytes | None = None
    asked: Asked | None = None
    attempts: int = 1
    errors: tuple[str, ...] = ()
    execution_id: str | None = None
    effect: Effect = "done"

    def to_json(self) -> bytes:
        """As bytes of JSON: ``{"output":...}`` and nothing more in the usual case."""
        head = _head(self.attempts, self.errors, self.execution_id)
        if self.asked is not None:
            head["approval"] = {
                "reasons": list(self.asked.reasons),
                "types": list(self.asked.types),
                "expires_at": self.asked.expires_at.isoformat(),
                "input_hash": self.asked.input_hash,
            }
            return _encode(head).encode()
        if self.effect != "done":
            head["effect"] = self.effect
        output = self.output or b"null"
        if not head:
            return _OUTPUT + output + b"}"
        return _encode(head).encode()[:-1] + b"," + _OUTPUT[1:] + output + b"}"

    @classmethod
    def from_json(cls, data: bytes) -> "Reply":
        """Reads what `to_json` wrote.

        Raises:
            ValueError: Not a `Reply`.
        """
        if data.startswith(_OUTPUT):
            return cls(output=data[len(_OUTPUT) : -1])
        wire = from_json(data)
        if not isinstance(wire, dict):
            # One error type for whatever is wrong with the bytes.
            raise ValueError("the reply is not an object")  # noqa: TRY004
        attempts, errors, execution_id = _read_head(wire)
        approval = wire.get("approval")
        if isinstance(approval, dict):
            asked = Asked(
                reasons=_texts(approval.get("reasons")),
                types=_texts(approval.get("types")),
                expires_at=datetime.fromisoformat(str(approval.get("expires_at"))),
                input_hash=str(approval.get("input_hash")),
            )
            return cls(asked=asked, attempts=attempts, errors=errors, execution_id=execution_id)
        if "output" not in wire:
            raise ValueError("the reply has neither output nor approval")
        return cls(
            output=_encode(wire["output"]).encode(),
            attempts=attempts,
            errors=errors,
            execution_id=execution_id,
            effect=_effect(wire.get("effect"), "done"),
        )


@dataclass(frozen=True, slots=True)
class Ending:
    """The details of a failed activity, beside its type (the code) and its message.

    Args:
        info: The error's public face.
        effect: What is known of the world.
        attempts: How many attempts it took.
        errors: Codes of the attempts before the last.
        execution_id: Where it is not the one that the asking run would derive.
        cancelled: Whether the caller's cancellation ended it.
    """

    info: ErrorInfo
    effect: Effect
    attempts: int = 1
    errors: tuple[str, ...] = ()
    execution_id: str | None = None
    cancelled: bool = False

    def details(self) -> dict[str, JsonValue]:
        """As the failure's one detail."""
        wire = _head(self.attempts, self.errors, self.execution_id)
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
        if not isinstance(detail, Mapping) or detail.get("effect") not in _EFFECTS:
            return None
        code: ErrorCode = cast(ErrorCode, type_) if type_ in CODES else "EXECUTION_FAILED"
        stage = detail.get("stage")
        attempts, errors, execution_id = _read_head(detail)
        return cls(
            info=ErrorInfo(
                code=code,
                message=message,
                stage=cast(Stage, stage) if stage in _STAGES else CODES[code].stage,
                retryable=detail.get("retryable") is True,
                reason=_text(detail.get("reason")),
                details=cast(JsonValue, detail.get("details")),
            ),
            effect=_effect(detail.get("effect"), "possible"),
            attempts=attempts,
            errors=errors,
            execution_id=execution_id,
            cancelled=detail.get("cancelled") is True,
        )


@dataclass(frozen=True, slots=True)
class Carry:
    """What one attempt tells the next in its heartbeat details (DESIGN section 9).

    Args:
        errors: Codes of the attempts so far.
        effect: ``possible`` where one of them may have entered the handler.
        entered: That the handler was entered, told while it still runs: an operator's activity
            reset starts again at attempt 1, and this makes a write refuse there.
    """

    errors: tuple[str, ...] = ()
    effect: Effect = "none"
    entered: bool = False

    def details(self) -> dict[str, JsonValue]:
        """As the heartbeat's one detail."""
        wire: dict[str, JsonValue] = {"effect": self.effect}
        if self.errors:
            wire["errors"] = list(self.errors)
        if self.entered:
            wire["entered"] = True
        return wire

    @classmethod
    def from_details(cls, detail: object) -> "Carry":
        """Reads a heartbeat's first detail; anything else carries nothing."""
        if not isinstance(detail, Mapping):
            return cls()
        return cls(
            errors=_texts(detail.get("errors")),
            effect=_effect(detail.get("effect"), "none"),
            entered=detail.get("entered") is True,
        )


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
    """

    model_config = ConfigDict(frozen=True)

    capability: str
    ask: str
    step: str
    code: ErrorCode
    stage: Stage
    effect: Effect
    attempts: int
    cancelled: bool = False
    requested: bool = False
    reason: str | None = None

    def error(self) -> CapabilityError:
        """The error it stands for."""
        return CapabilityError(self.code, stage=self.stage, audit_reason=self.reason)


UNSEEN: Final = TypeAdapter(Unseen)


def _head(attempts: int, errors: tuple[str, ...], execution_id: str | None) -> dict[str, JsonValue]:
    head: dict[str, JsonValue] = {}
    if attempts != 1:
        head["attempts"] = attempts
    if errors:
        head["errors"] = list(errors)
    if execution_id is not None:
        head["id"] = execution_id
    return head


def _read_head(wire: Mapping[object, object]) -> tuple[int, tuple[str, ...], str | None]:
    attempts = wire.get("attempts", 1)
    return (
        attempts if isinstance(attempts, int) else 1,
        _texts(wire.get("errors")),
        _text(wire.get("id")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def _effect(value: object, default: Effect) -> Effect:
    return cast(Effect, value) if value in _EFFECTS else default
