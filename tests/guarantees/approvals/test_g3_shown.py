"""What approvers see: the value that will run, less what is not for them (G3, G10)."""

import json
import logging

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus

from temperance import Completed
from temperance.runtime.names import APPROVAL_MEMO
from tests.guarantees.approvals.office import BOB, Office, ask
from tests.guarantees.approvals.payments import Payment

SECRET = "4111-SECRET"


async def test_g3_the_secret_part_of_an_input_is_shown_to_nobody_and_is_bound_all_the_same(
    office: Office,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Neither in the record, the memo, the listing, the summary, nor in any event or log.

    The history has the input as it runs: put a codec there if that is secret.
    """
    # Below this the SDK itself prints what activities return.
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "temperance")
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        record = await office.until_asked(approval)
        listed = [entry async for entry in office.approvals.list("pending") if entry.id == approval]
        pending = await office.client.get_workflow_handle(approval).describe()
        await office.approvals.approve(approval, approver=BOB, comment="Fine.")
        (envelope,) = await handle.result()
        closed = await office.client.get_workflow_handle(approval).describe()
        decided = await office.approvals.show(approval)

    assert isinstance(envelope, Completed)
    assert record.shown == {"label": "w", "cents": 100, "act": "return"}
    texts = [
        record.model_dump_json(),
        decided.model_dump_json(),
        repr(listed),
        json.dumps(dict(await pending.memo())),
        json.dumps(dict(await closed.memo())),
        str(await pending.static_summary()),
        str(pending.raw_description),
        str(closed.raw_description),
        *(event.model_dump_json() for event in office.events.events),
        caplog.text,
        *capfd.readouterr(),
    ]
    assert [text for text in texts if SECRET in text] == []

    carrying = [
        EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
        for event in await office.history(approval)
        if SECRET in str(event)
    ]
    # What it was started with, and what its one execution is given.
    assert carrying == ["WORKFLOW_EXECUTION_STARTED", "ACTIVITY_TASK_SCHEDULED"]


async def test_g3_the_listing_and_the_summary_name_no_part_of_an_input(office: Office) -> None:
    """Only who asks for what; not even what approvers may see."""
    async with office.worker():
        handle = await office.start(ask("transfer", "a label of its own", step="w"))
        approval = office.asked_by(handle, "w")
        record = await office.until_asked(approval)
        described = await office.client.get_workflow_handle(approval).describe()
        await office.approvals.reject(approval, approver=BOB)
        await handle.result()

    assert described.status == WorkflowExecutionStatus.RUNNING
    memo = (await described.memo())[APPROVAL_MEMO]
    assert "a label" not in json.dumps(memo)
    assert memo["input_hash"] == record.input_hash
    summary = await described.static_summary()
    assert summary == "pay.transfer (write/high) for user:ada"


async def test_g3_what_is_shown_is_the_value_that_will_run(office: Office) -> None:
    """Coerced and completed, not as it was written; and that is what runs."""
    written = ask("transfer", "w", step="w").model_copy(
        update={"raw": '{"act": "return", "cents": "250", "label": "w"}'}
    )
    async with office.worker():
        handle = await office.start(written)
        approval = office.asked_by(handle, "w")
        record = await office.until_asked(approval)
        await office.approvals.approve(approval, approver=BOB)
        await handle.result()
        started = (await office.history(approval))[0]

    assert record.shown == {"label": "w", "cents": 250, "act": "return"}
    carried = started.workflow_execution_started_event_attributes.input.payloads[0].data
    stored = Payment.model_validate_json(json.loads(carried)["input"])
    assert stored == Payment(label="w", cents=250)
    assert len(office.books.entries("w")) == 1
