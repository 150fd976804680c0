"""The workflows whose histories are committed: they are added to, and are not changed."""

import asyncio
from datetime import UTC, datetime
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from temperance import Actor, ApprovalRequired, Completed, ExecutionResult, Failed, StepError
from temperance.workflows import Invoker
from tests.replay.shop import (
    Order,
    bill,
    charge,
    close,
    export,
    glance,
    lend,
    look_up,
    refund,
    ship,
)

T = TypeVar("T")

NOWHERE = "a queue that nobody serves"


def told(envelope: ExecutionResult[T]) -> str:
    """What an envelope says, in a few words."""
    if isinstance(envelope, Completed | ApprovalRequired):
        words: list[str] = [envelope.status]
    else:
        words = [envelope.status, envelope.code]
    repeat = [] if envelope.repeat_of is None else ["again"]
    return " ".join([*words, envelope.effect, str(envelope.attempts), *envelope.errors, *repeat])


@workflow.defn(name="story.Everything")
class Everything:
    """One of each: what ends well, fails, is retried, times out, is refused or repeated."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._more = 0
        self._finished = False

    @workflow.run
    async def run(self) -> list[str]:
        agent = Invoker(actor=Actor(id="ada", attributes={"team": "a"}), surface="agent")
        own = Invoker(actor=Actor(id="bot", kind="automation"), correlation_id="ticket-7")
        tagged = Order(
            id="o-1", tags={"urgent", "gift", "fragile"}, due=datetime(2026, 1, 1, tzinfo=UTC)
        )
        self._tell(await agent.invoke(refund, tagged))
        self._tell(await agent.invoke(refund, tagged))
        for act in ("raise", "decline", "hang"):
            self._tell(await own.invoke(refund, Order(id="o-2", act=act)))
        self._tell(await own.invoke(look_up, Order(id="o-3", act="fail once")))
        self._tell(await own.invoke(charge, Order(id="o-4", act="raise")))
        elsewhere = Invoker(actor=Actor(id="bot", kind="automation"), task_queue=NOWHERE)
        self._tell(await elsewhere.invoke(export, Order(id="o-5")))
        self._tell(await agent.invoke("shop.nothing", '{"id": "o-6"}'))
        self._tell(await agent.invoke("shop.refund", '{"id": '))
        self._tell(await agent.invoke("shop.refund", {"id": "o-7", "amount": "x" * 3_000_000}))
        self._tell(await own.invoke(refund, Order(id="o-8"), step="refund-o-8"))
        try:
            await own.invoke(refund, Order(id="o-9"), step="refund-o-8")
        except StepError:
            self._told.append("refused")
        for envelope in await asyncio.gather(
            *(own.invoke(look_up, Order(id="o-10")) for _ in range(3)),
            own.invoke("shop.charge", {"id": "o-10", "tags": {"b", "a", "c"}}),
        ):
            self._tell(envelope)
        self._tell(await agent.invoke(close, Order(id="o-11")))
        try:
            async with asyncio.timeout(0.5):
                await own.invoke(ship, Order(id="o-12", act="hang"))
        except TimeoutError:
            self._told.append("given up")
        await workflow.wait_condition(lambda: self._finished and not self._more)
        return self._told

    @workflow.signal
    async def more(self, order: Order) -> None:
        """Ship something more."""
        await self._ship(order)

    @workflow.update
    async def more_now(self, order: Order) -> str:
        """Ship something more, and say how it went."""
        return await self._ship(order)

    @workflow.signal
    def finish(self) -> None:
        """Let the story end."""
        self._finished = True

    @workflow.query
    def so_far(self) -> list[str]:
        """How it went so far."""
        return self._told

    async def _ship(self, order: Order) -> str:
        self._more += 1
        envelope = await Invoker(actor=Actor(id="ada")).invoke(ship, order)
        self._more -= 1
        return self._tell(envelope)

    def _tell(self, envelope: ExecutionResult[T]) -> str:
        self._told.append(told(envelope))
        return self._told[-1]


@workflow.defn(name="story.Cancelled")
class Cancelled:
    """Its workflow is cancelled while a handler runs; it cleans up, and ends as cancelled."""

    @workflow.run
    async def run(self) -> None:
        invoker = Invoker(actor=Actor(id="ada"))
        try:
            self.first = told(await invoker.invoke(ship, Order(id="o-1", act="hang")))
            await asyncio.sleep(3600)
        finally:
            self.last = told(await invoker.invoke(refund, Order(id="o-1")))

    @workflow.query
    def so_far(self) -> list[str]:
        """How it went."""
        return [self.first, self.last]


@workflow.defn(name="story.Again")
class Again:
    """Asks for a write that ends well and one that does not, and then does as it is told."""

    def __init__(self) -> None:
        self._finished = False

    @workflow.run
    async def run(self, then: str) -> list[str]:
        invoker = Invoker(actor=Actor(id="ada"))
        ends = [
            told(await invoker.invoke(refund, Order(id="o-1"))),
            told(await invoker.invoke(refund, Order(id="o-1", act="raise"))),
            told(await invoker.invoke("shop.nothing", None)),
        ]
        match then:
            case "fail once" if workflow.info().attempt == 1:
                raise ApplicationError("not yet")
            case "continue":
                workflow.continue_as_new("end")
            case "repeat a step":
                await invoker.invoke(refund, Order(id="o-2"), step="again")
                await invoker.invoke(refund, Order(id="o-3"), step="again")
            case "hold":
                await workflow.wait_condition(lambda: self._finished)
            case _:
                pass
        return ends

    @workflow.signal
    def finish(self) -> None:
        """Let the story end."""
        self._finished = True


@workflow.defn(name="story.Approved")
class Approved:
    """Asks for what people must approve."""

    def __init__(self) -> None:
        self._told: list[str] = []

    @workflow.run
    async def run(self, then: str) -> list[str]:
        agent = Invoker(actor=Actor(id="ada"), surface="agent", correlation_id="ticket-8")
        order = Order(id="o-1", tags={"urgent", "gift", "fragile"})
        match then:
            case "lend":
                self._told.append(told(await agent.invoke(lend, order, step="ask")))
            case "hang":
                hanging = order.model_copy(update={"act": "hang"})
                self._told.append(told(await agent.invoke(close, hanging, step="ask")))
            case "several":
                held = await agent.invoke(close, Order(id="o-2"), step="held", wait=False)
                for envelope in await asyncio.gather(
                    agent.invoke(close, order, step="ask"),
                    agent.invoke("shop.close", order.model_dump(mode="json"), step="join"),
                    agent.invoke(refund, order),
                ):
                    self._told.append(told(envelope))
                if isinstance(held, ApprovalRequired):
                    self._told.append(told(await agent.outcome(close, held)))
            case _:
                self._told.append(told(await agent.invoke(close, order, step="ask")))
        return self._told

    @workflow.query
    def so_far(self) -> list[str]:
        """How it went so far."""
        return self._told


@workflow.defn(name="story.Settled")
class Settled:
    """Asks for writes whose outcome is unknown, and has one run again by itself."""

    @workflow.run
    async def run(self) -> list[str]:
        agent = Invoker(actor=Actor(id="ada"), surface="agent")
        ends: list[str] = []
        for act in ("raise", "fail once", "hang", "return"):
            ends.append(told(await agent.invoke(bill, Order(id="o-1", act=act))))
        declined = await agent.invoke(bill, Order(id="o-1", act="decline"), step="bill")
        ends.append(told(declined))
        if isinstance(declined, Failed):
            ends.append(told(await agent.run_again(bill, declined)))
        return ends


@workflow.defn(name="story.Local")
class Local:
    """Asks for what runs in its own worker, alone and beside what does not, and goes on."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._finished = False

    @workflow.run
    async def run(self) -> list[str]:
        agent = Invoker(actor=Actor(id="ada"), surface="agent")
        for act in ("return", "return", "fail once", "raise", "decline", "hang"):
            await self._glance(agent, Order(id="o-1", act=act))
        # The one that was asked for first ends last, and each is followed by something else.
        await asyncio.gather(
            self._glance(agent, Order(id="o-2", act="nap"), Order(id="o-2")),
            self._glance(agent, Order(id="o-3"), Order(id="o-3")),
        )
        await self._glance(agent, {"id": 4})
        await workflow.wait_condition(lambda: self._finished)
        return self._told

    @workflow.signal
    async def more(self, order: Order) -> None:
        """Glance at something more."""
        await self._glance(Invoker(actor=Actor(id="ada")), order)

    @workflow.signal
    def finish(self) -> None:
        """Let the story end."""
        self._finished = True

    @workflow.query
    def so_far(self) -> list[str]:
        """How it went so far."""
        return self._told

    async def _glance(self, invoker: Invoker, given: object, then: Order | None = None) -> None:
        self._told.append(told(await invoker.invoke(glance, given)))
        if then is not None:
            self._told.append(told(await invoker.invoke(charge, then)))


STORIES = [Everything, Cancelled, Again, Approved, Local, Settled]
