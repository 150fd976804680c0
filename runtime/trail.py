"""Writes the audit events of one attempt to the sinks (DESIGN section 9).

A sink that raises or hangs never changes an outcome, except that in strict audit the handler is not
entered before ``capability.started`` is recorded.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Final, TypedDict, Unpack

from .actor import ANONYMOUS, ActorKind
from .app import App
from .call import Call
from .capability import Capability
from .describe import Discovery
from .error import CapabilityError
from .event import BLANK, TERMINAL, Event, event_of
from .identity import random_id
from .names import Effect, EventType, Verdict

_log = logging.getLogger("temperance.audit")


class Facts(TypedDict, total=False):
    """The fields of an event that depend on its type, see `Event`."""

    effect: Effect
    attempts: int
    duration_ms: float
    error_code: str
    stage: str
    reason: str | None
    previous_error: str
    reasons: tuple[str, ...]
    approval_id: str
    approver_id: str | None
    approver_kind: ActorKind | None
    source: str | None
    comment: str | None
    verdict: Verdict


class Trail:
    """The events of one attempt.

    Args:
        app: Whose sinks.
        call: The attempt.
    """

    __slots__ = ("_app", "_began", "_common", "_prefix", "capability", "input_hash")

    def __init__(self, app: App, call: Call) -> None:
        self._app = app
        self._began = perf_counter_ns()
        if app.sinks:
            self._common = _common_of(call)
            self._prefix = _event_id_prefix(call)
        self.capability: Capability[object, object] | None = None
        self.input_hash: str | None = None

    @property
    def duration_ms(self) -> float:
        """Milliseconds since this attempt began."""
        return (perf_counter_ns() - self._began + 500) // 1000 / 1000

    async def emit(self, type_: EventType, **facts: Unpack[Facts]) -> bool:
        """Records an event in every sink.

        Args:
            type_: The event type.
            facts: The fields that go with it.

        Returns:
            Whether every sink recorded it.

        Raises:
            asyncio.CancelledError: The attempt was cancelled while an ``async`` sink recorded. Not
                for a terminal event: what it says has happened, and stays.
        """
        if not self._app.sinks:
            return True
        delivery = await deliver(self._app, self._event(type_, facts))
        if delivery.cancelled and type_ not in TERMINAL:
            raise asyncio.CancelledError
        return delivery.recorded

    async def started(self) -> None:
        """Records ``capability.started``.

        Raises:
            CapabilityError: AUDIT_UNAVAILABLE, in strict audit, where a sink did not record it.
        """
        if not await self.emit("capability.started") and self._app.strict_audit:
            raise CapabilityError("AUDIT_UNAVAILABLE")

    def _event(self, type_: EventType, facts: Facts) -> Event:
        fields = self._common.copy()
        fields["event_id"] = self._prefix + type_
        fields["type"] = type_
        fields["at"] = datetime.now(UTC)
        if self.capability is not None:
            fields["side_effect"] = self.capability.side_effect
            fields["risk"] = self.capability.risk
            fields["input_hash"] = self.input_hash
        fields.update(facts)
        return event_of(fields)


def _common_of(call: Call) -> dict[str, object]:
    """What all events of an attempt say alike."""
    actor = call.actor or ANONYMOUS
    fields = BLANK.copy()
    fields["execution_id"] = call.execution_id
    fields["attempt"] = call.attempt
    fields["capability"] = call.capability_id
    fields["actor_id"] = actor.id
    fields["actor_kind"] = actor.kind
    fields["surface"] = call.surface
    fields["repeat_of"] = call.repeat_of
    fields["correlation_id"] = call.correlation_id
    if call.workflow is not None:
        fields["workflow_id"] = call.workflow.workflow_id
        fields["run_id"] = call.workflow.run_id
        fields["activity_id"] = call.workflow.activity_id
    return fields


async def record_discovery(app: App, discovery: Discovery) -> None:
    """Records that a requester was shown what it may ask for: how much, never what.

    Args:
        app: Whose sinks.
        discovery: The listing.

    Raises:
        asyncio.CancelledError: The caller was cancelled while an ``async`` sink recorded.
    """
    if not app.sinks:
        return
    listing = random_id()
    event = Event(
        event_id=f"{listing}:1:capabilities.discovered",
        type="capabilities.discovered",
        at=datetime.now(UTC),
        execution_id=listing,
        actor_id=discovery.actor.id,
        actor_kind=discovery.actor.kind,
        surface=discovery.surface,
        listed=discovery.listed,
        withheld=discovery.withheld,
    )
    delivery = await deliver(app, event)
    if delivery.cancelled:
        raise asyncio.CancelledError


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of an event.

    Args:
        recorded: Whether every sink recorded it.
        cancelled: Whether the caller was cancelled meanwhile; nothing was raised.
    """

    recorded: bool = True
    cancelled: bool = False


_DELIVERED: Final = Delivery()


async def deliver(app: App, event: Event) -> Delivery:
    """Gives an event to every sink, each within the application's time, and comes back.

    Args:
        app: Whose sinks.
        event: The event.

    Returns:
        What became of it. Whatever a sink raises is reported in the log, by its kind alone.
    """
    recorded = True
    cancelled = False
    for sink in app.sinks or ():
        task: asyncio.Task[BaseException | None] | None = None
        failure: BaseException | None = None
        try:
            pending = sink.record(event)
            if pending is not None and inspect.isawaitable(pending):
                task = asyncio.ensure_future(_contained(pending))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a sink is the application's and may raise anything
            failure = error
        if task is not None:
            cancelled = await _settle(task, app.sink_timeout.total_seconds()) or cancelled
            failure = _failure_of(task)
        if failure is not None:
            recorded = False
            _log.warning(
                "audit sink %s did not record %s (%s)",
                type(sink).__name__,
                event.event_id,
                type(failure).__name__,
            )
    return _DELIVERED if recorded and not cancelled else Delivery(recorded, cancelled)


def _event_id_prefix(call: Call) -> str:
    """Tells apart what happened twice, and not what was delivered twice; the type follows."""
    run = f":{call.workflow.run_id}" if call.rerun and call.workflow is not None else ""
    return f"{call.execution_id}{run}:{call.attempt}:"


async def _settle(task: "asyncio.Task[BaseException | None]", timeout: float) -> bool:
    """Waits for a sink to the end, also where the attempt is cancelled meanwhile.

    The record of an effect that has happened must not be lost because the caller leaves; the
    cancellation is delivered once the sink is done.

    Returns:
        Whether the attempt was cancelled meanwhile. The sink may not be done: it had its time.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + timeout
    cancelled = False
    while not task.done() and (left := end - clock()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


async def _contained(pending: Awaitable[None]) -> BaseException | None:
    """Waits for a sink, and gives what it raises: left to a task, SystemExit would end the loop."""
    try:
        await pending
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a sink is the application's and may raise anything
        return error
    return None


def _failure_of(task: "asyncio.Task[BaseException | None]") -> BaseException | None:
    """Why a sink did not record; one that is not done had its time."""
    if not task.done():
        task.cancel()
        return TimeoutError()
    return asyncio.CancelledError() if task.cancelled() else task.result()
