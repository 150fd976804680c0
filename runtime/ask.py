"""What a workflow or client sends beside the input of a request.

Usually one line, as JSON text: the surface, the asking run, the requester::

    "agent AaIvx7dSc-G1hhMlpWX-dA user:ada"

It is written into history with every request, so it is short: the run id, a UUID, is given in
base64url, and is ``-`` where a client asks. What is unusual follows in an object::

    ["agent AaIvx7dSc-G1hhMlpWX-dA user:ada", {"correlation": "ticket-17"}]
"""

from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, cast

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from .actor import Actor, actor_of
from .approval import Grant
from .names import SURFACES, Surface
from .series import Series
from .wire import WireObject, as_object, encode, text, texts, whole

_NO_RUN: Final = "-"
_SHORT: Final = 512
"""Bytes of a line that may be remembered."""


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
        series: Where the execution is run again, or asked about: which step it is.
    """

    actor: Actor
    surface: Surface
    origin: str | None = None
    workflow_attempt: int = 1
    repeat_of: str | None = None
    correlation_id: str | None = None
    grant: Grant | None = None
    series: Series | None = None

    def to_json(self) -> bytes:
        """As bytes of JSON."""
        run = _NO_RUN if self.origin is None else _shortened(self.origin)
        unusual: dict[str, JsonValue] = {}
        if run is None:
            unusual["run"] = self.origin
        if self.actor.attributes:
            unusual["attributes"] = self.actor.attributes
        if self.workflow_attempt > 1:
            unusual["retry"] = self.workflow_attempt
        if self.repeat_of is not None:
            unusual["repeats"] = self.repeat_of
        if self.correlation_id is not None:
            unusual["correlation"] = self.correlation_id
        if self.grant is not None:
            unusual["grant"] = _write_grant(self.grant)
        if self.series is not None:
            unusual["series"] = self.series.to_wire()
        if not unusual:
            return _usual_line(self.surface, run or _NO_RUN, str(self.actor))
        return encode([f"{self.surface} {run or _NO_RUN} {self.actor}", unusual])

    @classmethod
    def from_json(cls, data: bytes) -> "Ask":
        """Reads what `to_json` wrote.

        Raises:
            ValueError: Not an `Ask`. The message does not repeat the data.
        """
        if len(data) <= _SHORT and data.startswith(b'"'):
            surface, origin, kind, name = _read_usual_line(data)
            return cls(_actor(kind, name, None), surface, origin)
        line, unusual = _parts(data)
        surface, run, kind, name = _words(line)
        return cls(
            actor=_actor(kind, name, unusual.get("attributes")),
            surface=surface,
            origin=text(unusual.get("run")) if run == _NO_RUN else _restored(run),
            workflow_attempt=whole(unusual.get("retry"), 1),
            repeat_of=text(unusual.get("repeats")),
            correlation_id=text(unusual.get("correlation")),
            grant=_read_grant(as_object(unusual.get("grant"))),
            series=Series.from_wire(as_object(unusual.get("series"))),
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
        expires_at = datetime.fromisoformat(str(wire.get("expires_at")))
        if expires_at.tzinfo is None:
            raise ValueError
        return Grant(
            execution_id=str(wire.get("execution")),
            input_hash=str(wire.get("input_hash")),
            expires_at=expires_at,
            approver=Actor.from_text(str(wire.get("by"))),
            types=texts(wire.get("types")),
        )
    except ValueError:
        raise ValueError("the request context names no well-formed approval") from None


def _parts(data: bytes) -> tuple[str, WireObject]:
    try:
        wire: object = from_json(data)
    except ValueError:
        raise ValueError("the request context is not JSON") from None
    if isinstance(wire, str):
        return wire, {}
    if isinstance(wire, list) and len(members := cast(list[object], wire)) == 2:
        line, unusual = text(members[0]), as_object(members[1])
        if line is not None and unusual is not None:
            return line, unusual
    raise ValueError("the request context is not a line, with an object at most")


def _words(line: str) -> tuple[Surface, str, str, str]:
    """Surface, run, and the requester's kind and id."""
    surface, _, rest = line.partition(" ")
    run, _, requester = rest.partition(" ")
    kind, _, name = requester.partition(":")
    if surface not in SURFACES:
        raise ValueError("the request context names no known surface")
    return surface, run, kind, name


def _actor(kind: str, name: str, attributes: object) -> Actor:
    try:
        if attributes:
            return Actor.model_validate({"id": name, "kind": kind, "attributes": attributes})
        return actor_of(kind, name)
    except ValidationError:
        raise ValueError("the request context names no well-formed actor") from None


# All requests that an actor makes through one door of a run have the same line.
@lru_cache(maxsize=1024)
def _usual_line(surface: str, run: str, requester: str) -> bytes:
    return encode(f"{surface} {run} {requester}")


@lru_cache(maxsize=1024)
def _read_usual_line(data: bytes) -> tuple[Surface, str | None, str, str]:
    surface, run, kind, name = _words(_parts(data)[0])
    return surface, None if run == _NO_RUN else _restored(run), kind, name


@lru_cache(maxsize=1024)
def _shortened(run_id: str) -> str | None:
    """A run id in 22 characters, or ``None`` where it is no UUID as servers write it."""
    try:
        packed = bytes.fromhex(run_id.replace("-", ""))
    except ValueError:
        return None
    short = urlsafe_b64encode(packed).decode().rstrip("=")
    return short if len(packed) == 16 and _restored(short) == run_id else None


@lru_cache(maxsize=1024)
def _restored(short: str) -> str:
    try:
        digits = b64decode(f"{short}==", altchars=b"-_", validate=True).hex()
    except ValueError:
        digits = ""
    if len(digits) != 32:
        raise ValueError("the request context names no run")
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
