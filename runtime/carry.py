"""What one attempt tells the next, in its heartbeat details (DESIGN section 9)."""

from dataclasses import dataclass

from pydantic import JsonValue

from .names import Effect
from .wire import as_object, effect, texts


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
        wire = as_object(detail)
        if wire is None:
            return cls()
        return cls(
            errors=texts(wire.get("errors")),
            effect=effect(wire.get("effect"), "none"),
            entered=wire.get("entered") is True,
        )
