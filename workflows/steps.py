"""Step ids of one run: they follow what is asked, not when (G5, DESIGN section 6)."""

from typing import NamedTuple

from ..runtime.error import StepError
from ..runtime.identity import automatic_step, check_identifier
from ..runtime.series import AGAIN, RECONCILE, is_own_step


class Step(NamedTuple):
    """The place of one execution in its run.

    Args:
        id: The activity id.
        repeat_of: Step id of the first execution that asked for the same, if there was one.
    """

    id: str
    repeat_of: str | None


class Steps:
    """Hands out step ids and remembers what was asked."""

    __slots__ = ("_counts", "_first", "_taken")

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._first: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def take(self, capability_id: str, raw_hash: str, explicit: str | None) -> Step:
        """The step of the next execution.

        Args:
            capability_id: What is asked for.
            raw_hash: Hash of the raw input.
            explicit: The caller's own step id: its promise that this is the same thing whatever its
                input.

        Returns:
            The step; an automatic id counts equal requests in this run.

        Raises:
            StepError: The explicit id is malformed, or was used before in this run.
        """
        asked = (capability_id, raw_hash)
        if explicit is not None:
            step = self._check(explicit)
        else:
            count = self._counts.get(asked, 0) + 1
            step = automatic_step(capability_id, raw_hash, count)
            while step in self._taken:
                count += 1
                step = automatic_step(capability_id, raw_hash, count)
            self._counts[asked] = count
        self._taken.add(step)
        first = self._first.setdefault(asked, step)
        return Step(step, None if first == step else first)

    def _check(self, explicit: str) -> str:
        try:
            check_identifier("step", explicit)
        except ValueError as error:
            raise StepError(str(error)) from None
        if explicit.isdigit():
            # The SDK numbers the activities that a workflow schedules by hand.
            raise StepError(
                f"step {explicit!r} is a number, as the ids of hand-written activities are: name it"
            )
        if is_own_step(explicit):
            raise StepError(
                f"step {explicit!r} reads like one that the library makes: use neither "
                f"{AGAIN!r} nor {RECONCILE!r} in it"
            )
        if explicit in self._taken:
            raise StepError(
                f"step {explicit!r} was used before in this run: its key would repeat. "
                "Give each execution its own step, or leave it out"
            )
        return explicit
