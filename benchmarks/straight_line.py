"""What an execution must compute, in a straight line: the floor under `Runtime.invoke`.

Validate, hash, ask three policies, enter the handler under an alarm, write and read the output,
record three events, make the envelope. Nothing is refused, caught, cancelled or bounded on the way:
what `Runtime.invoke` takes beyond this is the price of the pipeline.
"""

import asyncio
from datetime import UTC, datetime

from temperance import Completed, Request, Sink
from temperance.runtime.alarm import alarms_of
from temperance.runtime.canonical import hash_bytes
from temperance.runtime.event import BLANK, event_of
from temperance.runtime.identity import random_id
from temperance.runtime.names import EventType

from .orders import ADA, POLICIES, RefundInput, RefundResult, give_back, refund


async def straight_line(data: bytes, sink: Sink) -> Completed[RefundResult]:
    """Runs the steps.

    Args:
        data: The input as JSON.
        sink: Where the three events go.
    """
    execution_id = random_id()
    common: dict[str, object] = {
        **BLANK,
        "execution_id": execution_id,
        "capability": refund.id,
        "actor_id": ADA.id,
        "actor_kind": ADA.kind,
        "surface": "direct",
    }
    _record(sink, common, "capability.requested")
    given = refund.input_schema.from_json(data)
    input_hash = hash_bytes(refund.input_schema.canonical(given))
    request = Request[RefundInput, RefundResult](
        capability=refund,
        input=given,
        input_hash=input_hash,
        actor=ADA,
        surface="direct",
        execution_id=execution_id,
    )
    for policy in POLICIES:
        policy(request)
    common |= {"side_effect": "write", "risk": "high", "input_hash": input_hash}
    _record(sink, common, "capability.started")
    alarms = alarms_of(asyncio.get_running_loop())
    alarms.set(_BELL, alarms.loop.time() + 30)
    try:
        result = await give_back(given)
    finally:
        alarms.clear(_BELL)
    output = refund.output_schema.read(refund.output_schema.to_json(result))
    common |= {"effect": "done", "attempts": 1, "duration_ms": 0.1}
    _record(sink, common, "capability.completed")
    return Completed(execution_id=execution_id, capability=refund.id, output=output)


def _record(sink: Sink, common: dict[str, object], type_: EventType) -> None:
    fields = common.copy()
    fields["event_id"] = f"{common['execution_id']}:1:{type_}"
    fields["type"] = type_
    fields["at"] = datetime.now(UTC)
    sink.record(event_of(fields))


class _Bell:
    def ring(self) -> None:
        """What the alarm would do."""


_BELL = _Bell()
