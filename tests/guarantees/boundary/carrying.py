"""Workflows that carry values, and say what is not the same when it is back."""

from temporalio import workflow

from temperance.runtime.actor import Actor
from temperance.workflows import Invoker
from tests.guarantees.boundary.answers import Answer, answer_of
from tests.guarantees.boundary.luggage import CARRIERS, VALUES

ADA = Actor(id="ada")


def difference(kind: str, got: object) -> str | None:
    """What is not the same: value, class, and how a number or a moment is written."""
    _, given = VALUES[kind]
    write = CARRIERS[kind].output_schema.canonical
    if type(got) is type(given) and got == given and write(got) == write(given):
        return None
    return f"{given!r} came back as {got!r}"


@workflow.defn
class Carrying:
    """Carries each value, typed: gives the kinds that came back different."""

    @workflow.run
    async def run(self, kinds: list[str]) -> dict[str, str]:
        invoker = Invoker(actor=ADA, surface="agent")
        found: dict[str, str] = {}
        for kind in kinds:
            _, given = VALUES[kind]
            envelope = await invoker.invoke(CARRIERS[kind], given)
            if envelope.status != "completed":
                found[kind] = str(envelope)
            elif (what := difference(kind, envelope.output)) is not None:
                found[kind] = what
        return found


@workflow.defn
class CarryingText:
    """Carries JSON text, by id, as a model gives it."""

    @workflow.run
    async def run(self, texts: dict[str, str]) -> dict[str, Answer]:
        invoker = Invoker(actor=ADA, surface="agent")
        return {
            kind: answer_of(await invoker.invoke(f"luggage.{kind}", text))
            for kind, text in texts.items()
        }
