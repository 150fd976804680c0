"""A worker of one arm: `python -m benchmarks.peers.worker HOST TASK_QUEUE FOLDER ARM`.

Says ``"ready"``, then answers each line of its input with one line of JSON: ``cpu`` with the
processor time of the process in nanoseconds, ``effects`` with how often the tool took effect, by
order. Ends with its input.
"""

import asyncio
import logging
import os
import sys
from pathlib import Path
from time import process_time_ns

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from benchmarks.saying import say

from .tool import EFFECTS


async def main(host: str, task_queue: str, folder: Path, arm: str) -> None:
    """Serves one arm until the input ends."""
    logging.disable(logging.ERROR)  # what a flaky tool raises is meant to be raised
    EFFECTS.folder = folder
    async with await _worker(host, task_queue, arm):
        say("ready")
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
        while line := await reader.readline():
            say(process_time_ns() if line.strip() == b"cpu" else dict(EFFECTS.counts))


async def _worker(host: str, task_queue: str, arm: str) -> Worker:
    # Each arm imports its own framework, and no other one's.
    match arm:
        case "temperance":
            from temperance import TemperancePlugin

            from .by_hand import ask_model
            from .governed import Governed, app

            client = await Client.connect(host, plugins=[TemperancePlugin(app())])
            return Worker(
                client, task_queue=task_queue, workflows=[Governed], activities=[ask_model]
            )
        case "pydantic-ai":
            from pydantic_ai.durable_exec.temporal import PydanticAIPlugin

            from .with_pydantic_ai import WithPydanticAI

            client = await Client.connect(host, plugins=[PydanticAIPlugin()])
            return Worker(client, task_queue=task_queue, workflows=[WithPydanticAI])
        case "openai-agents":
            from temporalio.openai_agents import OpenAIAgentsPlugin
            from temporalio.openai_agents.testing import TestModelProvider

            from .with_openai_agents import Script, WithOpenAIAgents, settle_order

            plugin = OpenAIAgentsPlugin(model_provider=TestModelProvider(Script()))
            client = await Client.connect(host, plugins=[plugin])
            return Worker(
                client,
                task_queue=task_queue,
                workflows=[WithOpenAIAgents],
                activities=[settle_order],
            )
        case _:
            from .by_hand import ByHand, ask_model, settle_by_hand

            client = await Client.connect(host, data_converter=pydantic_data_converter)
            return Worker(
                client,
                task_queue=task_queue,
                workflows=[ByHand],
                activities=[ask_model, settle_by_hand],
            )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]))
    # The SDK's threads may outlive the interpreter by a moment, and end it with a fatal error then.
    os._exit(0)
