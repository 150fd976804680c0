"""Envelopes as JSON, so that a test can compare what leaves."""

from typing import Any

from temperance import ExecutionResult

Answer = dict[str, Any]  # JSON of any capability


def answer_of(envelope: ExecutionResult[Any]) -> Answer:
    """The envelope as JSON."""
    return {**envelope.to_dict()}
