"""What a workflow or client sends beside the input of a request."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from .actor import Actor
from .approval import Grant
from .names import SURFACES, Surface
from .wire import WireObject, as_object, decode_object, encode, text, texts, whole


@dataclass(frozen=True, slots=True)
class Ask:
    """What a workflow or client sends beside the input.

    Args:
        actor: The requester.
        surface: Through which door.
        origin: ``original_execution_run_id`` of the asking run; ``None`` from a client.
        workflow_attempt: Over 1 in a run that a workflow-level retry started.
        repeat_of: Step id of the first execution in this run that asked for the same; with a grant,
            its execution id.
        correlation_id: The application's own id.
        grant: The approval that authorizes it; only an approval workflow sends one.
    """

    actor: Actor
    surface: Surface
    origin: str | None = None
    workflow_attempt: int = 1
    repeat_of: str | None = None
    correlation_id: str | None = None
    grant: Grant | None = None

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
        if self.grant is not None:
            wire["grant"] = _write_grant(self.grant)
        return encode(wire)

    @classmethod
    def from_json(cls, data: bytes) -> "Ask":
        """Reads what `to_json` wrote.

        Raises:
            ValueError: Not an `Ask`. The message does not repeat the data.
        """
        wire = decode_object(data, "the request context")
        surface = text(wire.get("via"))
        if surface not in SURFACES:
            raise ValueError("the request context names no known surface")
        try:
            actor = Actor.from_text(str(wire.get("actor")), wire.get("attributes") or {})
        except ValueError:
            raise ValueError("the request context names no well-formed actor") from None
        return cls(
            actor=actor,
            surface=surface,
            origin=text(wire.get("run")),
            workflow_attempt=whole(wire.get("retry"), 1),
            repeat_of=text(wire.get("repeats")),
            correlation_id=text(wire.get("correlation")),
            grant=_read_grant(as_object(wire.get("grant"))),
        )


def _write_grant(grant: Grant) -> dict[str, JsonValue]:
    return {
        "execution": grant.execution_id,
        "input_hash": grant.input_hash,
        "expires_at": grant.expires_at.isoformat(),
        "by": str(grant.approver),
        "types": list(grant.types),
    }


def _read_grant(wire: WireObject | None) -> Grant | None:
    if wire is None:
        return None
    try:
        return Grant(
            execution_id=str(wire.get("execution")),
            input_hash=str(wire.get("input_hash")),
            expires_at=datetime.fromisoformat(str(wire.get("expires_at"))),
            approver=Actor.from_text(str(wire.get("by"))),
            types=texts(wire.get("types")),
        )
    except ValueError:
        raise ValueError("the request context names no well-formed approval") from None
