"""What a successful activity answers."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, cast

from pydantic import JsonValue

from .call import Asked
from .names import Effect
from .wire import as_object, decode_object, effect, encode, read_head, text, texts, write_head

_OUTPUT: Final = b'{"output":'


@dataclass(frozen=True, slots=True)
class Reply:
    """What a successful activity answers: an output or a demand for approval.

    Args:
        output: The output as bytes of JSON.
        asked: That a person must approve.
        attempts: How many attempts it took.
        errors: Codes of the attempts before the last.
        execution_id: Where it is not the one that the asking run would derive.
        repeat_of: Likewise, the execution that asked for the same before.
        effect: ``done`` unless middleware answered in the handler's place.
    """

    output: bytes | None = field(default=None, repr=False)
    asked: Asked | None = None
    attempts: int = 1
    errors: tuple[str, ...] = ()
    execution_id: str | None = None
    repeat_of: str | None = None
    effect: Effect = "done"

    def to_json(self) -> bytes:
        """As bytes of JSON: ``{"output":...}`` and nothing more in the usual case."""
        head = write_head(self.attempts, self.errors, self.execution_id, self.repeat_of)
        if self.asked is not None:
            head["approval"] = {
                "reasons": list(self.asked.reasons),
                "types": list(self.asked.types),
                "expires_at": self.asked.expires_at.isoformat(),
                "input_hash": self.asked.input_hash,
                "input": self.asked.input.decode(),
                "shown": self.asked.shown,
            }
            return encode(head)
        if self.effect != "done":
            head["effect"] = self.effect
        output = self.output or b"null"
        if not head:
            return _OUTPUT + output + b"}"
        return encode(head)[:-1] + b"," + _OUTPUT[1:] + output + b"}"

    @classmethod
    def from_json(cls, data: bytes) -> "Reply":
        """Reads what `to_json` wrote.

        Raises:
            ValueError: Not a `Reply`.
        """
        if data.startswith(_OUTPUT):
            return cls(output=data[len(_OUTPUT) : -1])
        wire = decode_object(data, "the reply")
        attempts, errors, execution_id, repeat_of = read_head(wire)
        approval = as_object(wire.get("approval"))
        if approval is not None:
            asked = Asked(
                reasons=texts(approval.get("reasons")),
                types=texts(approval.get("types")),
                expires_at=datetime.fromisoformat(str(approval.get("expires_at"))),
                input_hash=str(approval.get("input_hash")),
                input=(text(approval.get("input")) or "").encode(),
                shown=cast(JsonValue, approval.get("shown")),
            )
            return cls(
                asked=asked,
                attempts=attempts,
                errors=errors,
                execution_id=execution_id,
                repeat_of=repeat_of,
            )
        if "output" not in wire:
            raise ValueError("the reply has neither output nor approval")
        return cls(
            output=encode(cast(JsonValue, wire["output"])),
            attempts=attempts,
            errors=errors,
            execution_id=execution_id,
            repeat_of=repeat_of,
            effect=effect(wire.get("effect"), "done"),
        )
