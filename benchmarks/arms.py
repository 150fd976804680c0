"""The arms of a comparison, and the order in which they take turns."""

from typing import Final, Literal

Arm = Literal["by hand", "by hand again", "governed", "audited"]
"""Two equal hand-written arms, whose distance is the noise of the run; governed without policies
and with a sink that drops; governed with three policies and audit events written as lines of JSON.
"""

ARMS: Final[tuple[Arm, ...]] = ("by hand", "by hand again", "governed", "audited")

PLAIN: Final = "plain"
"""By hand on a worker that does not have the plugin at all."""

_A, _B, _C, _D = ARMS

TURNS: Final[tuple[tuple[Arm, ...], ...]] = (
    (_A, _B, _D, _C),
    (_B, _C, _A, _D),
    (_C, _D, _B, _A),
    (_D, _A, _C, _B),
)
"""A Williams square: in four rounds each arm is once in each place and once after each other one,
so that what one leaves behind falls upon all alike."""
