"""Whatever the application's own code raises or returns: an envelope, one end, no secret."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from temperance import (
    App,
    Capability,
    CapabilityError,
    Context,
    Decision,
    Failed,
    Governance,
    MemorySink,
    Policy,
    Redact,
    Request,
    Retry,
    Runtime,
    allow,
    deny,
    hide,
    require_approval,
)
from temperance.runtime.names import SideEffect
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import ADA, Door, Seen, bounded, invoke, judge
from tests.fuzz.objects import ANYTHING, OBJECTS
from tests.fuzz.secret import SECRET, leaks, listening
from tests.fuzz.values import PLAIN, TEXTS

Make = Callable[[], BaseException]
SOON = timedelta(milliseconds=30)


class Order(BaseModel):
    """What is asked for."""

    order: str = "a"
    note: Any = None


class Slip(BaseModel):
    """What comes of it; nobody is to see the card."""

    label: str = "ok"
    card: str | None = None
    more: JsonValue = None


CARD = Redact(output=("card",), approval_input=("note",))
SIDE_EFFECTS = st.sampled_from(["none", "read", "write", "destructive", "external"])
PHASES = st.sampled_from(["discovery", "invocation", "execution"])


def one(handler: Callable[..., object], **metadata: Any) -> Capability[Any, Any]:
    """The capability ``fuzz.one``, a write unless told otherwise."""
    sound: dict[str, Any] = {
        "id": "fuzz.one",
        "description": "Whatever it is.",
        "expose": frozenset({"agent"}),
        "side_effect": "write",
        "risk": "low",
        "timeout": timedelta(seconds=5),
        "redact": CARD,
    }
    return Capability[Any, Any](handler=handler, **(sound | metadata))


def retried(side_effect: SideEffect, on: Any = (Exception,)) -> dict[str, Any]:
    """Metadata of what may be tried three times."""
    retry = Retry(max_retries=2, backoff=timedelta(0), on=on)
    return {"side_effect": side_effect, "idempotent": True, "retry": retry}


def opened(door: Door) -> Callable[[Order], Awaitable[Slip]]:
    """A handler that only counts."""

    async def handler(input: Order) -> Slip:
        door.entered += 1
        door.returned += 1
        return Slip(card=SECRET)

    return handler


async def asked(
    door: Door,
    capability: Capability[Any, Any],
    policies: list[Policy] | None = None,
    value: object = None,
    **more: Any,
) -> Seen:
    """Asks for it once, and judges what came of it."""
    sink = MemorySink()
    governance = Governance([capability], policies or [], policy_timeout=SOON)
    app = App(governance, sinks=[sink], sink_timeout=SOON, **more)
    seen = await invoke(app, sink, "fuzz.one", {} if value is None else value)
    judge(seen, door)
    return seen


@budget(2)
@given(FAULTS, SIDE_EFFECTS, st.booleans(), st.integers(0, 2), st.booleans())
async def test_g10_a_handler_that_raises_anything_ends_in_an_envelope(
    make: Make, side_effect: SideEffect, in_thread: bool, failures: int, retries: bool
) -> None:
    """In the loop and in a thread, at once and at a later attempt."""
    door = Door()

    def act() -> Slip:
        door.entered += 1
        if door.entered <= failures + 1 and not (door.entered == 2 and failures == 0):
            raise make()
        door.returned += 1
        return Slip(card=SECRET)

    async def handler(input: Order) -> Slip:
        await asyncio.sleep(0)
        return act()

    def threaded(input: Order) -> Slip:
        return act()

    metadata = retried(side_effect) if retries else {"side_effect": side_effect}
    seen = await asked(door, one(threaded if in_thread else handler, **metadata))
    if not retries and side_effect in {"write", "destructive", "external"}:
        assert door.entered == 1
        assert seen.envelope.effect == "possible"


@budget(2)
@given(ANYTHING, st.sampled_from([Slip, JsonValue, Any, str, int, list[int], dict[str, Any]]))
async def test_g10_a_handler_that_returns_anything_ends_in_an_envelope(
    value: object, output: Any
) -> None:
    """With an output as its type says, or OUTPUT_INVALID and effect done; it is not tried again."""
    door = Door()

    async def handler(input: Order) -> Any:
        door.entered += 1
        door.returned += 1
        return value

    handler.__annotations__["return"] = output
    redact = CARD if output is Slip else Redact()
    seen = await asked(door, one(handler, redact=redact))
    assert seen.envelope.effect == "done"
    assert not isinstance(seen.envelope, Failed) or seen.envelope.code in {
        "OUTPUT_INVALID",
        "INTERNAL_ERROR",
        "PAYLOAD_TOO_LARGE",
    }


RULES = st.sampled_from(["raises", "returns", "redacts"])


@budget(2)
@given(RULES, FAULTS, ANYTHING)
async def test_g10_a_redaction_that_raises_or_gives_anything_lets_nothing_out(
    how: str, make: Make, value: object
) -> None:
    """Of the output and of what approvers see."""

    def rule(given: object) -> object:
        if how == "raises":
            raise make()
        return value if how == "returns" else Slip(label="seen")

    door = Door()
    seen = await asked(door, one(opened(door), redact=Redact(output=rule)))
    assert seen.envelope.effect == "done"

    door = Door()
    entry = one(opened(door), redact=Redact(output=("card",), approval_input=rule))
    policies = [Policy(lambda request: require_approval("Why not."))]
    seen = await asked(door, entry, policies, {"note": "mine"})
    assert door.entered == 0


def _decisions() -> st.SearchStrategy[Any]:
    expiry = st.timedeltas() | st.none() | st.integers()
    return (
        st.builds(allow)
        | st.builds(hide)
        | st.builds(partial, st.just(deny), TEXTS, TEXTS)
        | st.builds(
            partial, st.just(require_approval), TEXTS, type=TEXTS | st.none(), expires_in=expiry
        )
        | ANYTHING
    )


WAYS = st.sampled_from(["returns", "raises", "awaits", "awaits and raises", "never", "deaf"])
RULE = st.tuples(WAYS, _decisions(), FAULTS, PHASES, st.booleans())


def rule_of(rule: tuple[str, Any, Make, Any, bool]) -> Policy:
    """A policy that behaves as drawn."""
    way, decision, make, phase, changes = rule

    def meddle(request: Request[Any, Any]) -> None:
        if changes and request.input is not None:
            request.input.note = {"changed": True}

    def answer() -> Any:
        # Making it may fail, which is the policy's to answer for.
        lazy: Any = decision
        return lazy() if type(decision) is partial else decision

    async def later(request: Request[Any, Any]) -> Decision:
        meddle(request)
        await asyncio.sleep(0)
        if way == "awaits and raises":
            raise make()
        if way == "never":
            await asyncio.Event().wait()
        if way == "deaf":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        given: Decision = answer()
        return given

    def now(request: Request[Any, Any]) -> Any:
        meddle(request)
        if way == "raises":
            raise make()
        return answer() if way == "returns" else later(request)

    return Policy(now, phase)


@budget(3)
@given(st.lists(RULE, min_size=1, max_size=3), st.booleans())
async def test_g8_policies_of_any_kind_refuse_or_let_through_and_never_break(
    rules: list[tuple[str, object, Make, Any, bool]], retries: bool
) -> None:
    """What no policy allowed is not entered; whatever they raise, answer or change."""
    door = Door()
    metadata = retried("read") if retries else {}
    seen = await asked(door, one(opened(door), **metadata), [rule_of(rule) for rule in rules])
    if seen.envelope.status == "completed":
        assert all(way in {"returns", "awaits"} for way, *_ in rules)
        assert not any(changes for *_, phase, changes in rules if phase != "discovery")


LAYER = st.tuples(
    st.sampled_from(
        ["raises", "after", "twice", "never", "answers", "swallows", "task", "waits", "generator"]
    ),
    FAULTS,
    ANYTHING,
)


def layer_of(layer: tuple[str, Make, object]) -> Callable[..., Any]:
    """Middleware that behaves as drawn."""
    way, make, value = layer

    async def act(ctx: Context[Any], proceed: Callable[[], Awaitable[object]]) -> object:
        if way == "raises":
            raise make()
        if way == "never":
            return value
        if way == "waits":
            await asyncio.Event().wait()
        if way == "task":
            return await asyncio.ensure_future(proceed())
        if way == "swallows":
            with contextlib.suppress(BaseException):
                return await proceed()
            return value
        output = await proceed()
        if way == "after":
            raise make()
        if way == "twice":
            await proceed()
        return value if way == "answers" else output

    async def generate(ctx: Context[Any], proceed: Any) -> AsyncGenerator[object]:
        yield value

    return generate if way == "generator" else act


@budget(3)
@given(st.lists(LAYER, min_size=1, max_size=3), FAULTS, st.booleans(), st.booleans())
async def test_g2_middleware_of_any_kind_runs_the_handler_once_at_most(
    layers: list[tuple[str, Make, object]], make: Make, fails: bool, retries: bool
) -> None:
    """It may call twice, never, in a task, answer in its place, and swallow whatever comes."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        await asyncio.sleep(0)
        if fails:
            raise make()
        door.returned += 1
        return Slip(card=SECRET)

    metadata = retried("write") if retries else {}
    entry = one(
        handler,
        middleware=tuple(layer_of(layer) for layer in layers),
        **({"timeout": SOON} | metadata),
    )
    sink = MemorySink()
    app = App(Governance([entry]), sinks=[sink])
    seen = await invoke(app, sink, entry, {})
    assert door.entered <= seen.envelope.attempts
    if seen.envelope.effect == "none":
        assert door.entered == 0
    if door.entered == 0:
        assert seen.envelope.effect == "none"


CONTEXTS = st.sampled_from(
    ["factory", "enter", "exit", "swallows", "not one", "slow", "slow exit", "holds"]
)


@budget(2)
@given(CONTEXTS, FAULTS, OBJECTS | PLAIN, st.booleans())
async def test_g10_an_application_context_of_any_kind_tells_nothing_of_itself(
    way: str, make: Make, value: object, fails: bool
) -> None:
    """It may fail while it is made, entered or left, and hold whatever it likes."""
    door = Door()

    async def handler(input: Order, ctx: Context[Any]) -> Slip:
        door.entered += 1
        if fails:
            raise make()
        door.returned += 1
        return Slip(card=SECRET)

    @contextlib.asynccontextmanager
    async def made(request: Request[Any, Any]) -> AsyncGenerator[object]:
        if way == "enter":
            raise make()
        if way == "slow":
            await asyncio.Event().wait()
        try:
            yield value if way == "holds" else SECRET
        except BaseException:
            if way != "swallows":
                raise
        if way == "exit":
            raise make()
        if way == "slow exit":
            await asyncio.Event().wait()

    def factory(request: Request[Any, Any]) -> Any:
        if way == "factory":
            raise make()
        return value if way == "not one" else made(request)

    timeout = SOON if way.startswith("slow") else timedelta(seconds=5)
    seen = await asked(door, one(handler, timeout=timeout), context=factory)
    if way in {"factory", "enter", "not one", "slow"}:
        assert door.entered == 0
        assert seen.envelope.effect == "none"


@budget()
@given(st.lists(RULE, min_size=1, max_size=3))
async def test_g9_discovery_lists_or_withholds_whatever_its_policies_do(
    rules: list[tuple[str, object, Make, Any, bool]],
) -> None:
    """What one of them did not allow is not listed, and nothing is told of it."""
    sink = MemorySink()
    policies = [dataclasses.replace(rule_of(rule), phase="discovery") for rule in rules]
    app = App(Governance([one(opened(Door()))], policies, policy_timeout=SOON), sinks=[sink])
    with listening() as lines:
        listed = await bounded(Runtime(app).describe(actor=ADA, surface="agent"))
    assert sink.types() == ["capabilities.discovered"]
    allowed = all(way in {"returns", "awaits"} for way, *_ in rules)
    assert listed.listed + listed.withheld == 1
    assert allowed or listed.listed == 0
    told = [repr(listed), sink.events[0].model_dump_json(), *lines]
    assert leaks(told) == []


@budget()
@given(st.sampled_from(["raises", "returns"]), FAULTS, ANYTHING, FAULTS)
async def test_g2_a_filter_of_retries_that_fails_vetoes(
    way: str, make: Make, value: object, ends: Make
) -> None:
    """Only what says yes in so many words is tried again."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise ends()

    def asks(error: CapabilityError) -> Any:
        if way == "raises":
            raise make()
        return value

    seen = await asked(door, one(handler, **retried("write", asks)))
    assert seen.envelope.attempts == 1 or (way == "returns" and value is True)
