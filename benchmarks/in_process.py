"""`Runtime.invoke` in microseconds: three policies and an audit sink around a trivial handler.

A block is a series of calls of each arm, in turns. The input is given as an instance of its model,
as JSON and as a dictionary. Beside them stands what the models alone cost: validating the input,
calling the handler, writing its output and reading it back; and what all steps cost that have to be
computed, without the pipeline around them.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Final

from temperance import App, Governance, Runtime, Sink

from .audit import NullSink, json_lines, own_lines
from .cold import with_empty_caches
from .figures import Figure, summary
from .orders import ADA, POLICIES, RefundInput, give_back, refund
from .scale import Scale
from .straight_line import straight_line

BUDGET: Final = 12.0
BUDGET_WITH_LINES: Final = 20.0
JSON: Final = b'{"order_id":"o-00017","cents":1999}'
GIVEN: Final = {
    "instance": RefundInput(order_id="o-00017", cents=1999),
    "JSON": JSON,
    "dictionary": {"order_id": "o-00017", "cents": 1999},
}
"""The same input in the three forms it may have."""
AGAIN_COLD: Final = ("models alone", "in a straight line", "null sink, JSON")
"""What is measured with empty caches too, see `with_empty_caches`."""

Call = Callable[[], Awaitable[object]]


async def in_process(scale: Scale) -> list[Figure]:
    """Measures all forms of input, with a sink that drops and with one that writes.

    Args:
        scale: How much to measure.
    """
    with (
        TemporaryDirectory() as folder,
        (Path(folder) / "audit.jsonl").open("w") as text,
        (Path(folder) / "own.jsonl").open("wb") as file,
    ):
        arms: dict[str, tuple[Call, float | None]] = {
            "models alone": (models_alone, None),
            "in a straight line": (partial(straight_line, JSON, NullSink()), None),
        }
        for form in GIVEN:
            arms[f"null sink, {form}"] = (invocation(form, NullSink()), BUDGET)
        for form in GIVEN:
            arms[f"JSON lines, {form}"] = (invocation(form, json_lines(text)), BUDGET_WITH_LINES)
        arms["own JSON lines, JSON"] = (invocation("JSON", own_lines(file)), None)
        series: dict[str, list[float]] = {name: [] for name in arms}
        for number in range(scale.series + 1):
            for name, (call, _) in arms.items():
                taken = await _microseconds(call, scale.calls)
                if number:  # the first one warms up
                    series[name].append(taken)
        cold = {name: arms[name][0] for name in AGAIN_COLD}
        figures = await with_empty_caches(cold, scale.cold_calls)
    return [
        *(
            summary("in process", "time", name, "us", series[name], budget=budget)
            for name, (_, budget) in arms.items()
        ),
        *figures,
    ]


def invocation(form: str, sink: Sink) -> Call:
    """One governed call, three policies allowing it.

    Args:
        form: Which form of the input, see `GIVEN`.
        sink: Where its three events go.
    """
    runtime = Runtime(App(Governance([refund], policies=POLICIES), sinks=[sink]))
    given = GIVEN[form]

    async def call() -> object:
        return await runtime.invoke(refund, given, actor=ADA)

    return call


async def models_alone() -> object:
    """What is paid in any case: validate, run, write, read."""
    result = await give_back(refund.input_schema.from_json(JSON))
    return refund.output_schema.read(refund.output_schema.to_json(result))


async def _microseconds(call: Call, count: int) -> float:
    # Of this thread's processor time: nothing here waits, and other programs should not count.
    began = thread_time()
    for _ in range(count):
        await call()
    return (thread_time() - began) / count * 1e6
