"""Writes whose outcome may be unknown, and how it is found out."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal, cast

from pydantic import BaseModel

from temperance import (
    App,
    Approval,
    Capability,
    Context,
    DeclaredError,
    DidNotHappen,
    Governance,
    Happened,
    Reconcile,
    Redact,
    Request,
    Retry,
    Sink,
    Unknown,
    capability,
    did_not_happen,
    happened,
    unknown,
)
from temperance.runtime.reconcile import ReconcileFunction
from tests.guarantees.reconcile.gateway import Gateway

SECRET = "hunter2-in-the-gateway"
SHORT = timedelta(milliseconds=400)

Act = Literal[
    "return",
    "hang after",
    "hang before",
    "hang twice before",
    "die after",
    "die before",
    "die twice before",
    "raise after",
    "raise before",
    "raise thrice before",
    "decline",
]
Reply = Literal[
    "truth", "unknown", "later", "raise", "raise once", "hang", "nonsense", "invalid", "die once"
]


class Payment(BaseModel):
    """What to pay, how the first attempts go, and how the question is answered."""

    label: str
    act: Act = "return"
    then: Act = "return"
    reply: Reply = "truth"


class Receipt(BaseModel):
    """What was paid."""

    label: str
    key: str
    card: str = ""


class Declined(DeclaredError):
    """The gateway's own no."""

    reason = "DECLINED"


async def pay(input: Payment, ctx: Context[Gateway]) -> Receipt:
    """Goes wrong the first time, or the first three times, and then as told, which is well."""
    ctx.app.enter(input.label, ctx.idempotency_key, ctx.attempt)
    bad = 3 if "thrice" in input.act else 2 if "twice" in input.act else 1
    wrong = len(ctx.app.entries(input.label)) <= bad or input.act == "decline"
    act = input.act if wrong else input.then
    if act.endswith("after") or act == "return":
        ctx.app.charge(input.label, ctx.idempotency_key)
    match act.split()[0]:
        case "hang":
            await asyncio.sleep(30)
        case "die":
            os._exit(9)
        case "raise":
            raise ConnectionError(SECRET)
        case "decline":
            raise Declined("No.")
        case _:
            pass
    return Receipt(label=input.label, key=ctx.idempotency_key, card=SECRET)


async def find(input: Payment, ctx: Context[Gateway]) -> Happened[Receipt] | DidNotHappen | Unknown:
    """Looks in the gateway, unless the payment says otherwise."""
    asked = await asyncio.to_thread(ctx.app.ask, input.label, ctx.idempotency_key)
    match input.reply:
        case "unknown":
            return unknown()
        case "later" if asked < 3:
            return unknown()
        case "raise":
            raise ConnectionError(SECRET)
        case "raise once" if asked == 1:
            raise ConnectionError(SECRET)
        case "die once" if asked == 1:
            os._exit(9)
        case "hang":
            await asyncio.sleep(30)
        case "nonsense":
            return cast(Unknown, SECRET)  # what an author may do by mistake
        case "invalid":
            return cast(Unknown, happened({"secret": SECRET}))
        case _:
            pass
    if ctx.idempotency_key in ctx.app.charges(input.label):
        return happened(Receipt(label=input.label, key=ctx.idempotency_key, card=SECRET))
    return did_not_happen()


def find_in_thread(input: Payment) -> Happened[Receipt] | DidNotHappen:
    """Knows nothing of the key, and runs in a thread."""
    return happened(Receipt(label=input.label, key="", card=SECRET))


QUICK = Retry(max_retries=2, backoff=timedelta(milliseconds=5))
HIDDEN = Redact(output=("card",))


def write(
    id_: str,
    *,
    reconcile: Reconcile[Payment, Receipt] | ReconcileFunction[Payment, Receipt] | None = None,
    retry: Retry | None = None,
    approval: Approval | None = None,
    timeout: timedelta = SHORT,
) -> Capability[Payment, Receipt]:
    """One of the writes, all with the same handler."""
    # To a type checker a write with `reconcile` and one without are two overloads.
    declare = cast("Callable[..., Callable[[object], Capability[Payment, Receipt]]]", capability)
    return declare(
        id_,
        description="Moves money.",
        expose={"workflow", "direct"},
        side_effect="external",
        risk="high",
        idempotent=retry is not None,
        retry=retry,
        approval=approval,
        timeout=timeout,
        redact=HIDDEN,
        reconcile=reconcile,
    )(pay)


ASK = Reconcile(find, retry=QUICK, timeout=SHORT)
ASK_AND_RUN = Reconcile(find, retry=QUICK, timeout=SHORT, run_again=True)

charge = write("pay.charge", reconcile=ASK)
again = write("pay.again", reconcile=ASK_AND_RUN)
retried = write(
    "pay.retried",
    reconcile=ASK_AND_RUN,
    retry=Retry(max_retries=1, backoff=timedelta(milliseconds=5)),
)
vetoed = write(
    "pay.vetoed",
    reconcile=Reconcile(
        find,
        retry=Retry(max_retries=2, backoff=timedelta(milliseconds=5), on=(TimeoutError,)),
        timeout=SHORT,
    ),
)
unhurried = write("pay.unhurried", reconcile=ASK_AND_RUN, timeout=timedelta(seconds=30))
patient = write("pay.patient", reconcile=Reconcile(find, retry=QUICK, run_again=True))
plain = write("pay.plain")
threaded = write("pay.threaded", reconcile=find_in_thread)
approved = write(
    "pay.approved", reconcile=ASK_AND_RUN, approval=Approval(reason="Money leaves the house.")
)

ALL = (charge, again, retried, vetoed, unhurried, patient, plain, threaded, approved)


def app_of(
    gateway: Gateway,
    sinks: Sequence[Sink] = (),
    served: Sequence[Capability[Payment, Receipt]] = ALL,
) -> App:
    """The application whose handlers write in this gateway."""

    @asynccontextmanager
    async def with_gateway(request: Request[object, object]) -> AsyncGenerator[Gateway]:
        del request
        yield gateway

    return App(Governance(served), context=with_gateway, sinks=sinks)
