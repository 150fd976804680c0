"""No text of an object shows what may be a secret (G10).

`repr` and `str` end in logs, tracebacks and the reports of test runners. Whoever adds a field has
to say here that it may be shown, or give it ``repr=False``.
"""

import logging
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from temperance import Actor, App, CapabilityRegistry, Governance, RegistryError, Retry, capability
from temperance.connection_settings import resolve_settings
from temperance.log_line import ConsoleLayout, JsonLayout
from temperance.runtime.error import CapabilityError
from temperance.runtime.policy import Policy
from tests.security.planting import (
    SECRET,
    Planted,
    classes,
    fields_of,
    harmless,
    is_data,
    planted,
    shown_by,
)

IDENTIFIERS = {
    *("activity_id", "approval_id", "capability", "capability_id", "correlation_id"),
    *("event_id", "execution_id", "hash", "id", "ids", "input_hash", "joined", "links", "name"),
    *("next", "origin", "repeat_of", "run_id", "session_id", "step", "workflow_id"),
}
"""Names of executions and the like: they are in every event, and in the Temporal UI."""

PEOPLE = {"actor", "actor_id", "approver_id", "decided_by"}
"""Kind and id of who asked or decided: the audit is about them."""

SETTINGS = {
    *("address", "address_source", "approver_header", "db_path", "dynamic_config", "host"),
    *("namespace", "restrictions", "search_attributes", "task_queue", "url"),
}
"""Where something is, and how it is set up; no setting that is secret has such a name."""

DECLARED = {
    *("classes", "excluded", "input_schema", "modules", "names", "output_schema"),
    *("risk", "runner_class", "side_effect", "tags", "tool_name", "type", "types", "workflows"),
    *("description", "self_approval_reason", "_worker_level_failure_exception_types"),
}
"""What the application's source says, of types and of capabilities."""

TOLD = {
    *("code", "details", "earlier_errors", "error_code", "errors", "message", "previous_error"),
    *("reason", "reasons", "stage"),
    *("comment", "source"),
}
"""What is told to callers, or recorded in the audit: public by declaration."""

PUBLIC = IDENTIFIERS | PEOPLE | SETTINGS | DECLARED | TOLD

SHOWN_ON_PURPOSE = {
    # Redacted: what the holder of an envelope may see. docs/how-to/security.md says so.
    ("Completed", "output"),
    ("Answer", "envelope"),
    # It shows the ids of its capabilities.
    ("Governance", "registry"),
    # State of a run of workflow code. What is in it are tasks and other objects, not their values.
    ("Approvals", "by_id"),
    ("Approvals", "by_request"),
    ("GovernedRun", "absent"),
    ("GovernedRun", "asking"),
    ("GovernedRun", "cancelled"),
    ("GovernedRun", "placed"),
    ("Pending", "begun"),
    ("Pending", "outcome"),
}

DATA = [entry for entry in classes() if is_data(entry)]


@pytest.mark.parametrize("entry", DATA, ids=lambda entry: f"{entry.__module__}.{entry.__name__}")
def test_g10_no_text_of_an_object_shows_what_may_be_a_secret(entry: type) -> None:
    """Inputs, outputs, attributes of actors, credentials, and callables that may hold some."""
    made = planted(entry)
    text = f"{made!r} {made!s} {JsonLayout().line({'event': '', 'value': made})!r}"
    doubtful = shown_by(text, entry) - harmless(entry) - PUBLIC
    assert {field for field in doubtful if (entry.__name__, field) not in SHOWN_ON_PURPOSE} == set()


def test_g10_every_class_that_carries_data_is_looked_at() -> None:
    """Also those that nobody has thought of; and the way of looking finds what shows."""
    names = {entry.__name__ for entry in DATA}
    assert names >= {"Actor", "Ask", "Call", "ConnectionSettings", "Grant", "Request", "Sessions"}
    assert "id" in shown_by(repr(planted(Actor)), Actor)
    assert "api_key" in fields_of(next(e for e in DATA if e.__name__ == "ConnectionSettings"))


MODELS = [entry for entry in DATA if issubclass(entry, BaseModel)]


@pytest.mark.parametrize("model", MODELS, ids=lambda entry: entry.__name__)
def test_g10_what_a_model_refuses_it_does_not_repeat(model: type[BaseModel]) -> None:
    """Its errors may end in a log, or in history: pydantic's own text quotes what was given."""
    with pytest.raises(ValidationError) as error:
        model.model_validate([SECRET])
    texts = [str(error.value)]
    try:
        # Some fields take any JSON.
        model.model_validate({name: {"secret": [SECRET]} for name in fields_of(model)})
    except ValidationError as refusal:
        texts.append(str(refusal))
    assert SECRET not in "".join(texts)


@pytest.mark.parametrize("layout", [JsonLayout(), ConsoleLayout(colours=False)])
def test_g10_an_error_shows_neither_its_cause_nor_its_details(
    layout: JsonLayout | ConsoleLayout,
) -> None:
    """Whichever way it is written: by `repr`, by `str`, as a field of a log line."""
    error = CapabilityError(
        "EXECUTION_FAILED",
        cause=ConnectionError(SECRET),
        details={"account": SECRET},
        audit_reason=SECRET,
    )
    line = layout.line({"event": "failed", "level": "info", "error": error})
    assert SECRET not in f"{error!r} {error!s} {error.args} {line!r}"


class Order(BaseModel):
    card: str


@capability("shop.pay", description="Pay.", expose={"direct"}, side_effect="read", risk="low")
async def pay(order: Order) -> None: ...


def shop(*given: object) -> Any:
    raise NotImplementedError


def no_policy(*, key: object) -> None:
    raise NotImplementedError


def test_g10_an_application_whose_parts_hold_secrets_does_not_show_them() -> None:
    """A context factory, policy, sink or filter made by `partial` shows what it was given."""
    holding = partial(shop, Planted(SECRET))

    class Sink(Planted):
        def record(self, event: object) -> None: ...

    app = App(
        Governance([pay], policies=[holding], middleware=[partial(shop, Planted(SECRET))]),
        context=holding,
        sinks=[Sink(SECRET)],
        may_approve=partial(shop, Planted(SECRET)),
    )
    retry = Retry(1, on=partial(shop, Planted(SECRET)))
    assert SECRET not in f"{app!r} {app.governance!r} {retry!r}"


def test_g10_what_is_wrong_with_a_registry_is_said_without_what_a_callable_holds() -> None:
    """Here a policy that takes nothing, and a description that is no text."""
    wrong: Any = partial(no_policy, key=Planted(SECRET))
    with pytest.raises(RegistryError) as error:
        CapabilityRegistry([replace(pay, description=wrong, policies=(Policy(wrong),))])
    assert "policy" in str(error.value)
    assert SECRET not in str(error.value)


def test_g10_a_connection_does_not_show_its_credentials(caplog: pytest.LogCaptureFixture) -> None:
    """From arguments and environment alike, in text and in a line of a log."""
    caplog.set_level(logging.DEBUG)
    settings = resolve_settings(
        environment={"TEMPORAL_API_KEY": SECRET, "TEMPORAL_GRPC_META_TOKEN": SECRET}
    )
    assert settings.api_key == SECRET
    logging.getLogger("app").info("connecting with %s", settings)
    assert SECRET not in f"{settings!r} {settings!s} {caplog.text}"
