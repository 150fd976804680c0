"""What becomes of a tool that writes where something goes wrong, as each arm is by default.

Each answer is taken from the history of a run and from what the tool did, not from documentation.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from temporalio.client import Client

from .arms import ARMS, Ended, begin, end, worker_of
from .tool import DEADLY, FLAKY, ONCE, TELLTALE, keys_of

ATTEMPTS: Final = "attempts at a tool call, by default"
FAILS: Final = "effects of a write that fails after it"
CAREFUL: Final = "the same, one attempt asked for"
DIES: Final = "effects of a write whose worker dies after it"
GIVEN: Final = "ids that the tool is given, over its attempts"
LEAKS: Final = "text of its exception in history"


@dataclass(frozen=True)
class Fact:
    """One answer of one arm.

    Args:
        name: What was asked.
        arm: Of which arm.
        told: The answer.
    """

    name: str
    arm: str
    told: str


async def facts(client: Client, host: str, folder: Path) -> list[Fact]:
    """Asks all arms at the same time.

    Args:
        client: A client of the server.
        host: The server, for the workers.
        folder: An empty one, for the effects.
    """
    found = await asyncio.gather(*(_facts_of(client, host, folder, arm) for arm in ARMS))
    return [fact for of_arm in found for fact in of_arm]


async def _facts_of(client: Client, host: str, folder: Path, arm: str) -> list[Fact]:
    async with worker_of(host, arm, folder):
        flaky = f"{FLAKY}-{uuid4()}"
        failing = await end(await begin(client, arm, f"{flaky} 1"))
        once = f"{ONCE}-{FLAKY}-{uuid4()}"
        careful = await end(await begin(client, arm, f"{once} 1"))
    deadly = f"{DEADLY}-{uuid4()}"
    async with worker_of(host, arm, folder) as first:
        handle = await begin(client, arm, f"{deadly} 1")
        await first.ended()
    async with worker_of(host, arm, folder):
        dying = await end(handle)
    keys = keys_of(folder, f"{flaky}-0")
    return [
        Fact(ATTEMPTS, arm, _attempts(failing)),
        Fact(FAILS, arm, _told(len(keys), failing)),
        Fact(CAREFUL, arm, _told(len(keys_of(folder, f"{once}-0")), careful)),
        Fact(DIES, arm, _told(len(keys_of(folder, f"{deadly}-0")), dying)),
        Fact(GIVEN, arm, _given(keys)),
        Fact(LEAKS, arm, "yes" if _leaks(failing) else "no"),
    ]


def _attempts(run: Ended) -> str:
    # The model's activity is the first one, the tool's the second.
    scheduled = [
        event.activity_task_scheduled_event_attributes
        for event in run.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    most = scheduled[1].retry_policy.maximum_attempts
    return str(most) if most else "no limit"


def _told(effects: int, run: Ended) -> str:
    return f"{effects}; the run {'fails' if run.failed else 'goes on'}"


def _given(keys: Sequence[str]) -> str:
    return str(len(set(filter(None, keys))))


def _leaks(run: Ended) -> bool:
    return any(TELLTALE.encode() in event.SerializeToString() for event in run.events)
