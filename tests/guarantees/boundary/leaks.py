"""An application that fails in every place it can, with a secret in what it raises."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, NoReturn, cast

from pydantic import BaseModel, Field, field_validator

from temperance import (
    App,
    Capability,
    CapabilityError,
    Context,
    DeclaredError,
    Governance,
    MemorySink,
    Policy,
    Proceed,
    Redact,
    Request,
    Retry,
    StructlogSink,
    allow,
    capability,
)
from temperance.runtime.decision import Decision

SECRET: Final = "sesame"


def secret_of(place: str) -> str:
    """The secret that only `place` knows."""
    return f"{SECRET}-{place.replace(' ', '-')}"


class Asked(BaseModel):
    place: str

    @field_validator("place")
    @classmethod
    def refuse(cls, place: str) -> str:
        """A validator whose text is the application's own."""
        if place == "input validator":
            raise ValueError(secret_of(place))
        if place == "input validator with a fault":
            raise RuntimeError(secret_of(place))
        return place


class Card(BaseModel):
    holder: str = "ada"
    number: str = ""


class Told(BaseModel):
    public: str = "yes"
    private: str = ""
    cards: list[Card] = []
    by_key: dict[str, int] = Field(default_factory=dict[str, int])

    @field_validator("public")
    @classmethod
    def refuse(cls, public: str) -> str:
        if public.startswith(SECRET):
            raise ValueError(public)
        return public


class Refused(DeclaredError):
    """What it says is public; what it keeps is not."""

    reason = "REFUSED"

    def __init__(self, secret: str) -> None:
        super().__init__("No.")
        self.secret = secret
        self.args = (secret,)


class Careless(DeclaredError):
    """Does not call the constructor that it inherits."""

    reason = "CARELESS"

    def __init__(self, secret: str) -> None:
        self.secret = secret


class Mute(Exception):
    """Cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError(str(self.args[0]))


def chained(secret: str) -> NoReturn:
    """Raise with a cause, a context and a note."""
    try:
        raise KeyError(secret)
    except KeyError as error:
        failure = RuntimeError("on top")
        failure.add_note(secret)
        raise failure from error


def unhandled(secret: str) -> NoReturn:
    """Raise while another exception is handled."""
    try:
        raise KeyError(secret)
    except KeyError:
        raise Refused(secret)  # noqa: B904 - the chain is what is tested


def miscounted(secret: str) -> Told:
    """An output whose mapping has a secret for a key, and no number for it."""
    return Told.model_construct(by_key=cast(dict[str, int], {secret: "many"}))


def raises(error: BaseException) -> NoReturn:
    raise error


HANDLERS: Final[dict[str, Callable[[str], object]]] = {
    "text": lambda secret: raises(RuntimeError(secret)),
    "chain": chained,
    "context": unhandled,
    "group": lambda secret: raises(ExceptionGroup(secret, [ValueError(secret)])),
    "exit": lambda secret: raises(SystemExit(secret)),
    "cancellation": lambda secret: raises(asyncio.CancelledError(secret)),
    "mute": lambda secret: raises(Mute(secret)),
    "declared": lambda secret: raises(Refused(secret)),
    "careless": lambda secret: raises(Careless(secret)),
    "concealed": lambda secret: raises(CapabilityError("FORBIDDEN", secret, expose=False)),
    "cause": lambda secret: raises(CapabilityError("FORBIDDEN", cause=RuntimeError(secret))),
    "own model": lambda secret: Asked.model_validate({"place": [secret]}),
    "no details": lambda secret: raises(DeclaredError("No.", details={secret: object()})),  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType] - as a careless caller would
    "output validator": lambda secret: Told.model_construct(public=secret),
    "output type": lambda secret: Told.model_construct(private=cast(str, [secret])),
    "output key": lambda secret: Told.model_construct(
        by_key=cast(dict[str, int], {secret: "many"})
    ),
}
"""Places in a handler: each is given its secret."""


def told(asked: Asked) -> Told:
    """Fail as asked, or give the output whose private parts are redacted."""
    if asked.place not in HANDLERS:
        return redacted(asked.place)
    answer = HANDLERS[asked.place](secret_of(asked.place))
    assert isinstance(answer, Told)
    return answer


def redacted(place: str) -> Told:
    """An output with secrets where they are redacted."""
    secret = secret_of(place)
    return Told(private=secret, cards=[Card(number=secret), Card(number=secret)])


RETRY: Final = Retry(1, backoff=timedelta(milliseconds=1))
PATHS: Final = Redact(output=("private", "cards.number", "by_key"))


def _capability(
    name: str, handler: Callable[..., Any], *, redact: Redact = PATHS, **options: Any
) -> Capability[Any, Any]:
    declared: Capability[Any, Any] = capability(
        f"leaks.{name}",
        description="Fail.",
        expose={"agent"},
        side_effect="read",
        risk="low",
        redact=redact,
        **options,
    )(handler)
    return declared


async def in_loop(input: Asked) -> Told:
    return told(input)


def in_thread(input: Asked) -> Told:
    return told(input)


def with_context(input: Asked, ctx: Context[None]) -> Told:
    return told(input)


# Requests of any capability.
def policy_text(request: Request[Any, Any]) -> Decision:
    raise RuntimeError(secret_of("policy"))


async def policy_later(request: Request[Any, Any]) -> Decision:
    await asyncio.sleep(0)
    raise RuntimeError(secret_of("policy"))


def policy_exit(request: Request[Any, Any]) -> Decision:
    raise SystemExit(secret_of("policy"))


def policy_nonsense(request: Request[Any, Any]) -> Any:
    return secret_of("policy")


async def middleware_before(ctx: Context[Any], proceed: Proceed) -> object:
    raise RuntimeError(secret_of("middleware"))


async def middleware_after(ctx: Context[Any], proceed: Proceed) -> object:
    await proceed()
    raise KeyError(secret_of("middleware"))


def predicate(error: CapabilityError) -> bool:
    """A retry filter with a fault; it vetoes."""
    raise RuntimeError(secret_of("predicate"))


def only_public(output: Told) -> Told:
    """A redaction by a function."""
    return Told(public=output.public)


LEAKS: Final = [
    _capability("loop", in_loop, retry=RETRY),
    _capability("thread", in_thread, retry=RETRY),
    _capability("predicate", in_loop, retry=Retry(1, on=predicate)),
    _capability("function", in_loop, redact=Redact(output=only_public)),
    _capability("policy", in_loop, policies=[policy_text]),
    _capability("policy_later", in_loop, policies=[policy_later]),
    _capability("policy_exit", in_loop, policies=[policy_exit]),
    _capability("policy_nonsense", in_loop, policies=[policy_nonsense]),
    _capability("discovery", in_loop, policies=[Policy(policy_text, "discovery")]),
    _capability("execution", in_loop, policies=[Policy(policy_text, "execution")]),
    _capability("before", in_loop, middleware=[middleware_before]),
    _capability("after", in_loop, middleware=[middleware_after]),
    _capability("context", with_context),
]


@asynccontextmanager
async def context(request: Request[Any, Any]) -> AsyncGenerator[None]:
    """A context factory that fails where it is asked to."""
    place = getattr(request.input, "place", "")
    if place == "context enter":
        raise RuntimeError(secret_of(place))
    yield None
    if place == "context exit":
        raise RuntimeError(secret_of(place))


def leaking(sink: MemorySink) -> App:
    """The application; a policy of all capabilities allows."""
    governance = Governance(LEAKS, policies=[lambda _: allow()])
    return App(governance, context=context, sinks=[sink, StructlogSink()])
