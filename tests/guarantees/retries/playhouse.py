"""Workflows that play many scenes at once: through the library, and as foreign code would."""

import asyncio
from datetime import timedelta

from pydantic import BaseModel
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from temperance import Actor, ExecutionResult
from temperance.workflows import Invoker
from tests.guarantees.retries.combinations import Scene


class Part(BaseModel):
    """A scene and the capability that plays it."""

    capability: str
    scene: Scene


@workflow.defn
class Governed:
    """Asks for all of them through the library."""

    @workflow.run
    async def run(self, parts: list[Part]) -> list[ExecutionResult[object]]:
        invoker = Invoker(actor=Actor(id="ada"))
        return await asyncio.gather(
            *(invoker.invoke(part.capability, part.scene) for part in parts)
        )


@workflow.defn
class Unlimited:
    """Schedules all of them by hand, with attempts without limit."""

    @workflow.run
    async def run(self, parts: list[Part]) -> None:
        await asyncio.gather(*(self._play(part) for part in parts))

    async def _play(self, part: Part) -> None:
        try:
            await workflow.execute_activity(
                part.capability,
                part.scene,
                start_to_close_timeout=timedelta(seconds=30),
                retry_policy=RetryPolicy(
                    initial_interval=timedelta(milliseconds=1), maximum_attempts=0
                ),
            )
        except ActivityError as error:
            workflow.logger.debug("%s ended with %s", part.scene.case, error.cause)
