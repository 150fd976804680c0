"""`Runtime`: governed capabilities in process, without Temporal (surfaces ``direct`` and ``test``).

The same attempt code as on Temporal; here the runtime itself drives the retry loop by the same
rules. What it cannot give is durability: when the process dies, the execution dies with it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar, overload

from .actor import Actor, check_requester
from .app import App
from .attempt import record_end, run_attempt
from .call import Asked, Broke, Call, Outcome, Returned
from .capability import Capability, id_asked_for
from .describe import Discovery, describe
from .envelope import ApprovalRequired, Cancelled, Completed, ExecutionResult, Failed
from .error import CapabilityError
from .identity import check_identifier, random_id
from .names import Effect, Surface
from .reconcile import Reconcile, is_open, may_run_again, settle
from .reconciling import Found, ask_reconcile, effect_of, record_reconciled
from .retry import SINGLE_ATTEMPT
from .trail import record_discovery
from .watch import Watch

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output


class Runtime:
    """Runs capabilities of an `App` in this process.

    Args:
        app: The governed surface and what it needs.
        sleep: Waits between attempts, in seconds; for tests.
    """

    def __init__(
        self, app: App, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.app = app
        self._sleep = sleep

    @overload
    async def invoke(
        self,
        capability: Capability[I, O],
        input: I | object,
        *,
        actor: Actor,
        surface: Surface = ...,
        request_id: str | None = ...,
        correlation_id: str | None = ...,
    ) -> ExecutionResult[O]: ...

    @overload
    async def invoke(
        self,
        capability: str,
        input: object,
        *,
        actor: Actor,
        surface: Surface = ...,
        request_id: str | None = ...,
        correlation_id: str | None = ...,
    ) -> ExecutionResult[object]: ...

    async def invoke(
        self,
        capability: Capability[I, O] | str,
        input: object,
        *,
        actor: Actor,
        surface: Surface = "direct",
        request_id: str | None = None,
        correlation_id: str | None = None,
    ) -> ExecutionResult[O] | ExecutionResult[object]:
        """Requests one execution and waits for its envelope.

        Args:
            capability: The capability, or its id.
            input: An input of its type, a JSON-like value, or JSON as ``bytes``; with an id also
                JSON as ``str``.
            actor: The authenticated requester.
            surface: Through which door.
            request_id: The execution id to use; a random one unless given. The runtime keeps no
                record, so it does not refuse one that was used before.
            correlation_id: The application's own id, passed through to events.

        Returns:
            The envelope. Whatever goes wrong in the request is in it.

        Raises:
            ValueError: A malformed ``request_id`` or ``correlation_id``, an unknown surface.
            TypeError: An actor that is none.
            asyncio.CancelledError: The caller was cancelled; the trail says with what effect.
        """
        check_requester(actor, surface)
        name = id_asked_for(capability)
        if not isinstance(capability, Capability) and isinstance(input, str):
            input = input.encode(errors="surrogatepass")
        if request_id is not None:
            check_identifier("request_id", request_id)
        if correlation_id is not None:
            check_identifier("correlation_id", correlation_id)
        execution_id = request_id or random_id()
        known = self.app.governance.registry.get(name)
        plan = SINGLE_ATTEMPT if known is None else known.plan
        errors: tuple[str, ...] = ()
        effect: Effect = "none"
        attempt = series = 1
        earlier = 0
        while True:
            call = Call(
                capability_id=name,
                raw=input,
                actor=actor,
                surface=surface,
                execution_id=execution_id,
                attempt=attempt,
                earlier_errors=errors,
                earlier_effect=effect,
                correlation_id=correlation_id,
                earlier_series=earlier,
            )
            watch = Watch(call)
            outcome = await run_attempt(self.app, call, watch)
            if watch.cancelled:
                raise asyncio.CancelledError
            if not isinstance(outcome, Broke) or not outcome.retries or plan.retry is None:
                envelope = envelope_of(call, outcome)
                if known is None or known.reconcile is None or not isinstance(envelope, Failed):
                    return envelope
                if not is_open(known.side_effect, envelope):
                    return envelope
                settled = await self._settled(call, known.reconcile, envelope)
                again = known.reconcile.run_again and may_run_again(envelope.error, series)
                if settled.reconciled != "did_not_happen" or not again:
                    return settled
                series += 1
                earlier = attempt
                errors, effect = (*errors, envelope.error.code), "none"
                attempt += 1
                continue
            errors = (*errors, outcome.info.code)  # what the caller may be told of it
            effect = outcome.effect
            delay = outcome.error.retry_after or plan.retry.delay(attempt - earlier)
            attempt += 1
            if delay:
                await self._wait(delay.total_seconds(), call, outcome)

    async def _settled(
        self, call: Call, reconcile: Reconcile[Any, Any], envelope: Failed
    ) -> ExecutionResult[object]:
        """Asks what became of it, as often as its retry says, and records the answer."""
        found = Found("unknown")
        error: CapabilityError | None = None
        for number in range(1, 2 + reconcile.retry.max_retries):
            try:
                found, error = await ask_reconcile(self.app, call), None
            except CapabilityError as failure:
                found, error = Found("unknown"), failure
            if found.verdict != "unknown" or number > reconcile.retry.max_retries:
                break
            if not reconcile.asks_again(error):
                break
            after = None if error is None else error.retry_after
            await self._sleep((after or reconcile.retry.delay(number)).total_seconds())
        await record_reconciled(self.app, call, found, effect_of(found.verdict), error=error)
        return settle(envelope, found.verdict, found.output)

    async def _wait(self, seconds: float, call: Call, last: Broke) -> None:
        try:
            await self._sleep(seconds)
        except asyncio.CancelledError:
            error = CapabilityError("CANCELLED", stage="controls")
            await record_end(self.app, call, error, last.effect, cancelled=True, requested=False)
            raise

    async def describe(
        self,
        *,
        actor: Actor,
        surface: Surface = "direct",
        tags: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
    ) -> Discovery:
        """Lists what a requester may be shown, see `describe`, and records how much it was."""
        discovery = await describe(
            self.app.governance, surface=surface, actor=actor, tags=tags, ids=ids
        )
        await record_discovery(self.app, discovery)
        return discovery


def envelope_of(call: Call, outcome: Outcome) -> ExecutionResult[object]:
    """The envelope that an outcome without a further attempt comes to.

    Args:
        call: The last attempt.
        outcome: How it ended.

    Returns:
        The execution's final answer.
    """
    match outcome:
        case Returned():
            return Completed(
                execution_id=call.execution_id,
                capability=call.capability_id,
                attempts=call.attempt,
                errors=call.earlier_errors,
                repeat_of=call.repeat_of,
                effect=outcome.effect,
                output=outcome.output,
            )
        case Asked():
            return ApprovalRequired(
                execution_id=call.execution_id,
                capability=call.capability_id,
                attempts=call.attempt,
                errors=call.earlier_errors,
                repeat_of=call.repeat_of,
                effect=call.earlier_effect,
                reasons=outcome.reasons,
                types=outcome.types,
                expires_at=outcome.expires_at,
                input_hash=outcome.input_hash,
            )
        case Broke():
            kind = Cancelled if outcome.interruption == "cancelled" else Failed
            return kind(
                execution_id=call.execution_id,
                capability=call.capability_id,
                attempts=call.attempt,
                errors=call.earlier_errors,
                repeat_of=call.repeat_of,
                effect=outcome.effect,
                error=outcome.info,
            )
