"""A further series of attempts of one execution, and the question what became of the first.

Both are activities with ids of their own, made of the step's: ``refund:again-2`` and
``refund:reconcile-1``. They belong to the execution of ``refund``, under its one key. The asking
side says so in the request context, and the activity believes it only where its own id, which the
server vouches for, is the one that this step's series has.
"""

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from .wire import WireObject, text, texts, whole

AGAIN: Final = ":again-"
RECONCILE: Final = ":reconcile-"


@dataclass(frozen=True, slots=True)
class Series:
    """Which series of an execution.

    Args:
        step: The step id of the execution.
        number: Of the series that is run, or asked about; 1 for the first.
        attempts: How many attempts there were in the series before, or, where it is asked about, up
            to its end.
        errors: Codes of those attempts, as far as they are known.
        run_id: Run id of the standalone activity that is asked about.
    """

    step: str
    number: int
    attempts: int
    errors: tuple[str, ...] = ()
    run_id: str | None = None

    @property
    def again_id(self) -> str:
        """Activity id of the series; of the first one the step id itself."""
        return self.step if self.number == 1 else f"{self.step}{AGAIN}{self.number}"

    @property
    def reconcile_id(self) -> str:
        """Activity id of the question what became of it."""
        return f"{self.step}{RECONCILE}{self.number}"

    def to_wire(self) -> dict[str, JsonValue]:
        """As it travels in an `Ask`."""
        wire: dict[str, JsonValue] = {
            "step": self.step,
            "number": self.number,
            "attempts": self.attempts,
            "errors": list(self.errors),
        }
        if self.run_id is not None:
            wire["run"] = self.run_id
        return wire

    @classmethod
    def from_wire(cls, wire: WireObject | None) -> "Series | None":
        """Reads what `to_wire` wrote; ``None`` where there is none.

        Raises:
            ValueError: It is not well-formed.
        """
        if wire is None:
            return None
        step, number = text(wire.get("step")), whole(wire.get("number"), 0)
        attempts = whole(wire.get("attempts"), -1)
        if not step or number < 1 or attempts < 0:
            raise ValueError("the request context names no well-formed series")
        return cls(step, number, attempts, texts(wire.get("errors")), text(wire.get("run")))


def is_own_step(step: str) -> bool:
    """Whether an id looks like one of a series, which no caller's step may."""
    return AGAIN in step or RECONCILE in step
