"""The explained history is a real one: the table says what it says, and it replays (G4, G6)."""

import base64
import json
import re
from typing import Any, cast

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from temperance import MemorySink
from temperance.plugin import TemperancePlugin
from tests.docs.history_capabilities import LOOKUPS
from tests.docs.one_history import HISTORY, make_app
from tests.docs.test_references import rows

PAGE = "explanation/retries-replays-repeats.md"

Json = dict[str, Any]  # JSON of the server's making


def recorded() -> dict[int, Json]:
    """The events of the history, by number."""
    events = cast(list[Json], json.loads(HISTORY.read_text())["events"])
    return {int(event["eventId"]): event for event in events}


def attributes(event: Json) -> Json:
    """The one object of an event that depends on its type."""
    return next(cast(Json, value) for name, value in event.items() if name.endswith("Attributes"))


def text_of(event: Json) -> str:
    """Everything the table may say of an event."""
    found = attributes(event)
    parts = [str(event["eventType"]).removeprefix("EVENT_TYPE_"), str(found.get("identity", ""))]
    parts.append(str(found.get("activityId", "")))
    if "retryPolicy" in found:
        parts.append(f"at most {found['retryPolicy']['maximumAttempts']} attempt")
    if "attempt" in found:
        parts.append(f"attempt {found['attempt']}")
    if "result" in found:
        parts.append(base64.b64decode(found["result"]["payloads"][0]["data"]).decode())
    if "failure" in found:
        parts.append(str(found["failure"]["applicationFailureInfo"]["type"]))
    return " ".join(parts)


def test_g4_the_explained_table_says_what_the_history_says() -> None:
    """Each row's event type, step id, attempts and codes are those of the event it names."""
    events = recorded()
    table = rows(PAGE, "event")
    assert len(table) > 8
    for number, claim, _ in table:
        said = re.sub(r"\.\.\.`", "`", claim).replace("attempts", "attempt").replace("`", " ")
        truth = text_of(events[int(number)]).replace("attempts", "attempt")
        for piece in re.split(r"[\s,]+(?![^{]*\])", said):
            assert piece in truth, f"event {number}: {piece!r} is not in {truth!r}"


async def test_g6_the_explained_history_replays_without_a_handler_or_an_event() -> None:
    """Today's code re-runs the recorded workflow to the same commands; nothing else happens."""
    app = make_app()
    before = list(LOOKUPS)
    history = WorkflowHistory.from_json("ticket-17", HISTORY.read_text())
    await Replayer(workflows=[], plugins=[TemperancePlugin(app)]).replay_workflow(history)
    assert before == LOOKUPS
    sinks = list(app.sinks or ())
    assert [sink.events for sink in sinks if isinstance(sink, MemorySink)] == [[]]
