"""What the activity that asks about a write answers."""

from dataclasses import dataclass, field
from typing import Final, cast, get_args

from pydantic import JsonValue

from .names import Verdict
from .wire import decode_object, encode, text

_VERDICTS: Final = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What was found out about a write whose outcome was unknown.

    Args:
        verdict: The answer.
        output: The output as bytes of JSON, where it happened.
        execution_id: Where it is not the one that the asking run would derive.
    """

    verdict: Verdict
    output: bytes = field(default=b"null", repr=False)
    execution_id: str | None = None

    def to_json(self) -> bytes:
        """As bytes of JSON."""
        wire: dict[str, JsonValue] = {"verdict": self.verdict}
        if self.execution_id is not None:
            wire["id"] = self.execution_id
        if self.verdict != "happened":
            return encode(wire)
        return encode(wire)[:-1] + b',"output":' + self.output + b"}"

    @classmethod
    def from_json(cls, data: bytes) -> "Settlement":
        """Reads what `to_json` wrote.

        Raises:
            ValueError: Not a `Settlement`.
        """
        wire = decode_object(data, "the answer")
        verdict = wire.get("verdict")
        if verdict not in _VERDICTS:
            raise ValueError("the answer has no verdict")
        return cls(
            cast(Verdict, verdict),
            encode(cast(JsonValue, wire.get("output"))),
            text(wire.get("id")),
        )
