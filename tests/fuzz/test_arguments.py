"""Arguments of the wrong type: an error that says so where it is given; nothing has run."""

from typing import Any

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from temperance import (
    App,
    ConfigurationError,
    Governance,
    MemorySink,
    Policy,
    Runtime,
    TemperanceClient,
    TemperancePlugin,
)
from tests.fuzz.judging import ADA, Door
from tests.fuzz.orders import asked, one, opened
from tests.fuzz.stage import APP, Theatre
from tests.fuzz.workflows import Misusing

WRONG: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"actor": "user:ada"}, TypeError),
    ({"actor": {"id": "ada"}}, TypeError),
    ({"surface": "street"}, ValueError),
    ({"surface": None}, ValueError),
    ({"surface": ["agent"]}, ValueError),
]


@pytest.mark.parametrize(("wrong", "error"), WRONG)
async def test_a_requester_or_door_that_is_none_is_refused_where_it_is_given(
    theatre: Theatre, wrong: dict[str, Any], error: type[Exception]
) -> None:
    """In process it was taken, or failed as a defect of the library."""
    door, sink = Door(), MemorySink()
    runtime: Any = Runtime(App(Governance([one(opened(door))]), sinks=[sink]))
    door_of: Any = TemperanceClient
    with pytest.raises(error):
        await runtime.invoke("fuzz.one", {}, **({"actor": ADA, "surface": "agent"} | wrong))
    with pytest.raises(error):
        door_of(theatre.client, APP, **({"actor": ADA} | wrong))
    assert (door.entered, sink.events) == (0, [])


@pytest.mark.parametrize("way", ["actor", "surface", "correlation", "step"])
async def test_arguments_of_the_wrong_type_fail_the_workflow_and_not_its_task(
    theatre: Theatre, task_queue: str, way: str
) -> None:
    """A task that fails is tried again for ever."""
    with pytest.raises(WorkflowFailureError) as failed:
        await theatre.client.execute_workflow(
            Misusing.run, way, id=task_queue, task_queue=theatre.queue
        )
    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "StepError"


def test_a_plugin_of_something_else_than_an_application_says_what_to_give() -> None:
    """The governed surface alone is what one gives by mistake."""
    governance: Any = APP.governance
    with pytest.raises(ConfigurationError, match=r"give an App\(Governance\(...\)\)"):
        TemperancePlugin(governance)


async def test_g8_a_policy_that_answers_no_decision_is_named_with_what_it_answered() -> None:
    """By the kind of it, and not by what is in it."""

    def rule(_: object) -> Any:
        return {"allow": True}

    seen = await asked(Door(), one(opened(Door())), [Policy(rule)])
    assert any("policy rule answered <class 'dict'>" in line for line in seen.lines)
