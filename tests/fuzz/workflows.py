"""Workflows that ask for whatever the example says, and foreign code that schedules it by hand."""

import json
from base64 import b64decode
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from temperance.runtime.actor import Actor
from temperance.runtime.error import StepError
from temperance.workflows import Invoker


class Wish(BaseModel):
    """One request.

    Args:
        capability: Its id.
        data: The input in base64, as bytes may be of any kind.
        how: As the bytes that they are, as the value that they stand for, or as text.
        actor: Who asks.
        surface: Through which door.
        step: An explicit step.
        correlation_id: The application's own id.
    """

    capability: str
    data: str = ""
    how: str = "bytes"
    actor: Actor = Actor(id="ada")
    surface: str = "agent"
    step: str | None = None
    correlation_id: str | None = None


@workflow.defn(name="FuzzAsking")
class Asking:
    """Asks, and gives the envelope as JSON; a documented error by its name."""

    @workflow.run
    async def run(self, wish: Wish) -> dict[str, Any]:
        """One execution."""
        data = b64decode(wish.data)
        given: Any = data
        if wish.how == "value":
            given = json.loads(data)
        elif wish.how == "text":
            given = data.decode(errors="surrogateescape")
        surface: Any = wish.surface
        try:
            invoker = Invoker(actor=wish.actor, surface=surface, correlation_id=wish.correlation_id)
            envelope = await invoker.invoke(wish.capability, given, step=wish.step, wait=False)
        except StepError as error:
            return {"raised": str(error)}
        return {**envelope.to_dict()}


@workflow.defn(name="FuzzMisusing")
class Misusing:
    """Asks with an argument of the wrong type."""

    @workflow.run
    async def run(self, way: str) -> None:
        """Which one, the way says."""
        given: dict[str, Any] = {"actor": Actor(id="ada")}
        wrong: dict[str, dict[str, Any]] = {
            "actor": {"actor": "user:ada"},
            "surface": {"surface": 7},
            "correlation": {"correlation_id": 7},
        }
        step: Any = 7 if way == "step" else None
        await Invoker(**(given | wrong.get(way, {}))).invoke("fuzz.write", {}, step=step)


class Crafted(BaseModel):
    """An argument of an activity, as no converter would write it."""

    data: str
    metadata: dict[str, str]

    def value(self) -> RawValue:
        """As it travels."""
        found = {key: b64decode(text) for key, text in self.metadata.items()}
        return RawValue(Payload(metadata=found, data=b64decode(self.data)))


class Scheme(BaseModel):
    """What foreign code schedules."""

    activity: str
    arguments: list[Crafted]
    id: str | None = None


@workflow.defn(name="FuzzForeign")
class Foreign:
    """Schedules a capability's activity with arguments of any kind."""

    @workflow.run
    async def run(self, scheme: Scheme) -> dict[str, Any]:
        """The result as text, or the failure's type, message and details."""
        try:
            value: RawValue = await workflow.execute_activity(
                scheme.activity,
                args=[argument.value() for argument in scheme.arguments],
                activity_id=scheme.id,
                result_type=RawValue,
                start_to_close_timeout=timedelta(seconds=30),
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        except ActivityError as error:
            cause = error.cause
            if not isinstance(cause, ApplicationError):
                return {"failed": type(cause).__name__, "message": str(cause), "details": []}
            return {"failed": cause.type, "message": cause.message, "details": [*cause.details]}
        return {"reply": value.payload.data.decode(errors="replace")}
