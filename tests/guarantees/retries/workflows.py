"""Workflows that ask for executions: through the library, and as code that knows nothing of it."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from pydantic import BaseModel, JsonValue
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from temperance import Actor, ExecutionResult
from temperance.workflows import Invoker
from tests.guarantees.retries.orders import Order


class Errand(BaseModel):
    """One execution to ask for."""

    capability: str
    order: Order


class Plan(BaseModel):
    """What a workflow is to do.

    `queue` is where the activities run, the workflow's own queue unless given. With `hold` the
    workflow stays open until it is told to finish, so that workers and servers may come and go.
    """

    errands: tuple[Errand, ...]
    queue: str | None = None
    hold: bool = False


@workflow.defn
class Errands:
    """Runs all errands of a plan at once."""

    def __init__(self) -> None:
        self._envelopes: Sequence[ExecutionResult[object]] = ()
        self._finished = False

    @workflow.run
    async def run(self, plan: Plan) -> list[ExecutionResult[object]]:
        invoker = Invoker(actor=Actor(id="ada"), task_queue=plan.queue)
        self._envelopes = await asyncio.gather(
            *(invoker.invoke(errand.capability, errand.order) for errand in plan.errands)
        )
        if plan.hold:
            await workflow.wait_condition(lambda: self._finished)
        return list(self._envelopes)

    @workflow.query
    def done(self) -> bool:
        """Whether all envelopes are there."""
        return bool(self._envelopes)

    @workflow.signal
    def finish(self) -> None:
        """Let the workflow end."""
        self._finished = True


class Foreign(BaseModel):
    """How an activity is scheduled by code that knows nothing of the library."""

    capability: str
    order: Order
    start_to_close: timedelta = timedelta(seconds=10)
    heartbeat: timedelta | None = None
    queue: str | None = None
    retry: bool = False
    """Whether it names its own, unlimited policy; without, Temporal's default, also unlimited."""


class ForeignEnd(BaseModel):
    """How that activity ended, as plain Temporal tells it."""

    output: object = None
    type: str | None = None
    non_retryable: bool | None = None
    retry_state: str | None = None
    details: dict[str, JsonValue] = {}


@workflow.defn
class ForeignCode:
    """Schedules a capability's activity by hand."""

    @workflow.run
    async def run(self, foreign: Foreign) -> ForeignEnd:
        try:
            output = await workflow.execute_activity(
                foreign.capability,
                foreign.order.model_dump(mode="json"),
                start_to_close_timeout=foreign.start_to_close,
                heartbeat_timeout=foreign.heartbeat,
                task_queue=foreign.queue,
                retry_policy=(
                    RetryPolicy(initial_interval=timedelta(milliseconds=10), maximum_attempts=0)
                    if foreign.retry
                    else None
                ),
            )
        except ActivityError as error:
            state = None if error.retry_state is None else error.retry_state.name
            cause = error.cause
            if isinstance(cause, ApplicationError):
                return ForeignEnd(
                    type=cause.type,
                    non_retryable=cause.non_retryable,
                    retry_state=state,
                    details=cause.details[0],
                )
            return ForeignEnd(type=type(cause).__name__, retry_state=state)
        return ForeignEnd(output=output)
