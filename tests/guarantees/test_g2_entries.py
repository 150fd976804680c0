"""How often a handler is entered, over everything that decides about it, on the server (G2).

The same combinations as in tests/runtime/test_g2_entries.py, which runs them in process.
"""

import asyncio
from collections import Counter
from datetime import timedelta

from temporalio.worker import Worker

from temperance import Actor, Runtime, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.retries.combinations import app_of, expected, facts, scenes
from tests.guarantees.retries.playhouse import Governed, Part, Unlimited

TIMEOUT = timedelta(milliseconds=500)
PLAYED = list(scenes())
PARTS = [Part(capability=entry.id, scene=scene) for entry, scene in PLAYED]
EXPECTED = {scene.case: expected(entry, scene.moves) for entry, scene in PLAYED}


async def test_g2_the_server_and_the_runtime_make_the_same_attempts_of_every_combination(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The derived policy lets handlers be entered as often as DESIGN says, and as in process."""
    entries: Counter[str] = Counter()
    app = app_of(entries, TIMEOUT)
    client = await embedded.connect(plugins=[TemperancePlugin(app)])
    async with Worker(client, task_queue=task_queue, workflows=[Governed]):
        envelopes = await client.execute_workflow(
            Governed.run, PARTS, id=task_queue, task_queue=task_queue
        )
    on_the_server = dict(entries)
    entries.clear()
    runtime = Runtime(app)
    in_process = await asyncio.gather(
        *(
            runtime.invoke(part.capability, part.scene, actor=Actor(id="ada"), surface="workflow")
            for part in PARTS
        )
    )

    assert on_the_server == dict(entries) == EXPECTED
    assert [facts(envelope) for envelope in envelopes] == [facts(other) for other in in_process]


async def test_g2_a_policy_without_limit_makes_no_attempt_more_of_any_combination(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Foreign code schedules every combination with unlimited attempts: the same entries."""
    entries: Counter[str] = Counter()
    client = await embedded.connect(plugins=[TemperancePlugin(app_of(entries, TIMEOUT))])
    async with Worker(client, task_queue=task_queue, workflows=[Unlimited]):
        await client.execute_workflow(Unlimited.run, PARTS, id=task_queue, task_queue=task_queue)

    assert dict(entries) == EXPECTED
