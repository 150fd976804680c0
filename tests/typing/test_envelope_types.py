"""What type checkers know of envelopes; checked by running them over this file."""

from typing import assert_type

from temperance import Completed, ExecutionResult


def described(envelope: ExecutionResult[object]) -> str:
    return envelope.status


def test_an_envelope_of_a_type_is_one_of_any_wider_type() -> None:
    """What reads envelopes of all capabilities takes those of each: they are read only."""
    envelope: ExecutionResult[int] = Completed(execution_id="e", capability="c", output=1)
    assert described(envelope) == "completed"
    assert_type(envelope.unwrap(), int)
