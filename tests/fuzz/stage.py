"""One application on a real server, whose every part does what the example at hand says.

Worker and test share a process, and examples come one after the other: so what handler, policies,
middleware, context, redaction and rules about approvers do is looked up here when they are called.
"""

import contextlib
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from pydantic import BaseModel
from temporalio.client import Client, WorkflowHandle

from temperance import (
    Actor,
    App,
    Approval,
    Capability,
    Context,
    Governance,
    MemorySink,
    Policy,
    Redact,
    Request,
    Retry,
    TemperanceClient,
    allow,
)
from temperance.runtime.approval import ApprovalRecord
from temperance.runtime.policy import PHASES, Phase
from temperance.runtime.reconcile import Reconcile, Unknown
from tests.fuzz.judging import Door
from tests.fuzz.secret import SECRET
from tests.runtime import models

LAYERS: Final = 2
"""So many rules in each phase, and so much middleware, may be at work."""


class Order(BaseModel):
    """What is asked for."""

    order: str = "a"
    note: Any = None


class Slip(BaseModel):
    """What comes of it; nobody is to see the card."""

    label: str = "ok"
    card: str | None = None
    more: Any = None


async def plainly(ctx: Context[Any], proceed: Callable[[], Awaitable[object]]) -> object:
    """Middleware that does nothing."""
    return await proceed()


def anybody(approver: Actor, record: ApprovalRecord) -> bool:
    """May approve."""
    return True


async def cannot_tell(input: object) -> Unknown:
    """What became of it."""
    return Unknown()


def nobody(approver: Actor, record: ApprovalRecord) -> bool:
    """May approve."""
    return False


@dataclass
class Play:
    """What the parts of the application do in this example."""

    handler: Callable[[object], Any] = lambda _: Slip(card=SECRET)
    rules: dict[tuple[Phase, int], Policy] = field(default_factory=dict[tuple[Phase, int], Policy])
    layers: list[Callable[..., Any]] = field(default_factory=list[Callable[..., Any]])
    redact: Callable[[Any], object] | None = None
    may_approve: Callable[[Actor, ApprovalRecord], Any] = anybody
    reconcile: Callable[..., Any] = cannot_tell
    door: Door = field(default_factory=Door)


@dataclass
class Stage:
    """Where the play is looked up."""

    play: Play = field(default_factory=Play)


STAGE: Final = Stage()


async def handle(input: Order) -> Slip:
    """Counts, and does as the play says."""
    door = STAGE.play.door
    door.entered += 1
    door.inputs.append(input)
    output: Slip = STAGE.play.handler(input)
    door.returned += 1
    return output


def handle_in_thread(input: Order) -> Slip:
    """Likewise, in a thread."""
    door = STAGE.play.door
    door.entered += 1
    door.inputs.append(input)
    output: Slip = STAGE.play.handler(input)
    door.returned += 1
    return output


def redacted(value: Any) -> object:
    """As the play says, or without the card."""
    rule = STAGE.play.redact
    return Slip(label=value.label, more=value.more) if rule is None else rule(value)


def shown(value: Any) -> object:
    """What approvers see."""
    rule = STAGE.play.redact
    return {"order": value.order} if rule is None else rule(value)


def _rule(phase: Phase, number: int) -> Policy:
    def rule(request: Request[Any, Any]) -> Any:
        entry = STAGE.play.rules.get((phase, number))
        return allow() if entry is None else entry.function(request)

    return Policy(rule, phase, f"{phase} {number}")


def _layer(number: int) -> Callable[..., Any]:
    def layer(ctx: Context[Any], proceed: Callable[[], Awaitable[object]]) -> Any:
        layers = STAGE.play.layers
        return (layers[number] if number < len(layers) else plainly)(ctx, proceed)

    return layer


async def find_out(input: Order) -> Any:
    """What became of it, as the play says."""
    answer = STAGE.play.reconcile(input)
    return await answer if inspect.isawaitable(answer) else answer


def may_approve(approver: Actor, record: ApprovalRecord) -> bool:
    """As the play says."""
    allowed: bool = STAGE.play.may_approve(approver, record)
    return allowed


@contextlib.asynccontextmanager
async def holding(request: Request[Any, Any]) -> AsyncGenerator[object]:
    """A context with a secret in it."""
    yield SECRET


def one(id: str, handler: Callable[..., object] = handle, **metadata: Any) -> Capability[Any, Any]:
    """A capability of the stage."""
    sound: dict[str, Any] = {
        "description": "Whatever it is.",
        "expose": frozenset({"agent", "direct", "workflow"}),
        "side_effect": "write",
        "risk": "low",
        "timeout": timedelta(seconds=20),
        "redact": Redact(output=redacted, approval_input=shown),
    }
    return Capability[Any, Any](id=id, handler=handler, **(sound | metadata))


def taking(id: str, type_: Any) -> Capability[Any, Any]:
    """A capability that takes the type and gives it back."""

    async def give_back(input: Any) -> Any:
        STAGE.play.door.entered += 1
        STAGE.play.door.returned += 1
        return input

    give_back.__annotations__ = {"input": type_, "return": type_}
    return one(id, give_back, redact=Redact())


AGAIN: Final[dict[str, Any]] = {
    "idempotent": True,
    "retry": Retry(max_retries=2, backoff=timedelta(0), on=(Exception,)),
}
TYPES: Final[dict[str, Any]] = {
    "fuzz.strict": models.Strict,
    "fuzz.open": models.Open,
    "fuzz.aliased": models.Aliased,
    "fuzz.payment": models.Payment,
    "fuzz.node": models.Node,
    "fuzz.everything": models.Everything,
    "fuzz.guarded": models.Guarded,
    "fuzz.mapping": dict[str, Any],
    "fuzz.anything": Any,
}
SINK: Final = MemorySink()
APP: Final = App(
    Governance(
        [
            one("fuzz.write"),
            one("fuzz.thread", handle_in_thread),
            one("fuzz.again", **AGAIN),
            one("fuzz.asked", approval=Approval(type="lead", expires_in=timedelta(hours=1))),
            one(
                "fuzz.settled",
                reconcile=Reconcile(
                    find_out,
                    retry=Retry(max_retries=1, backoff=timedelta(0)),
                    timeout=timedelta(milliseconds=200),
                ),
            ),
            *(taking(id, type_) for id, type_ in TYPES.items()),
        ],
        [_rule(phase, number) for phase in PHASES for number in range(LAYERS)],
        [_layer(number) for number in range(LAYERS)],
        policy_timeout=timedelta(seconds=20),
    ),
    context=holding,
    sinks=[SINK],
    may_approve=may_approve,
)


@dataclass(frozen=True)
class Theatre:
    """The application, served.

    Args:
        client: Has the plugin.
        queue: Where its worker listens.
    """

    client: Client
    queue: str

    def asking(self, actor: Actor, surface: Any = "agent") -> TemperanceClient:
        """A door for requests without a workflow."""
        return TemperanceClient(
            self.client, APP, actor=actor, surface=surface, task_queue=self.queue
        )


async def written(handle: WorkflowHandle[Any, Any]) -> list[bytes]:
    """All that the server keeps of a workflow, as it travels."""
    history = await handle.fetch_history()
    described = (await handle.describe()).raw_description
    return [message.SerializeToString() for message in (*history.events, described)]
