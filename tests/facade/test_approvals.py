"""Approvals from code: the list, which needs no worker, and what came of one."""

import dataclasses
from collections.abc import AsyncGenerator, Sequence

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import PayloadCodec
from temporalio.worker import Worker

from temperance import ApprovalRecord, CapabilityError
from tests.facade.deciding.browsing import Browser
from tests.facade.deciding.errand import Errand
from tests.facade.deciding.house import BOB, DESK, House, opened
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """The shop, with a server of its own."""
    async with opened(tmp_path_factory.mktemp("house")) as house:
        yield house


async def code_of(call: object) -> str:
    """The code that a call is refused with."""
    with pytest.raises(CapabilityError) as error:
        await call  # type: ignore[misc] # pyright: ignore[reportGeneralTypeIssues] - any awaitable
    return error.value.code


async def test_g3_a_list_says_what_became_of_each_and_who_decided(house: House) -> None:
    """Without asking a worker: pending, approved, rejected, withdrawn, expired, ended by force."""
    approvals = house.approvals
    pending = await house.ask("D-1")
    approved, rejected = await house.ask("D-2"), await house.ask("D-3")
    withdrawn, forced = await house.ask("D-4"), await house.ask("D-5")
    expired = await house.ask("D-6", "shop.hurry")
    await approvals.approve(approved, approver=BOB)
    await approvals.reject(rejected, approver=BOB)
    await approvals.cancel(withdrawn, by=DESK)
    await house.client.get_workflow_handle(forced).terminate()
    for approval in (approved, rejected, withdrawn, expired):
        await house.until_over(approval)
    await house.until_listed([forced], "closed")

    listed = await house.listed()
    assert {approval: (entry.state, entry.decided_by) for approval, entry in listed.items()} == {
        pending: ("pending", None),
        approved: ("approved", "user:bob"),
        rejected: ("rejected", "user:bob"),
        withdrawn: ("cancelled", str(DESK)),
        expired: ("expired", None),
        forced: ("cancelled", None),
    }
    assert set(await house.listed("pending")) == {pending}
    assert await code_of(approvals.outcome(forced)) == "APPROVAL_CANCELLED"
    assert await approvals.outcome_so_far(pending) is None
    outcome = await approvals.outcome_so_far(approved)
    assert outcome is not None
    assert outcome.status == "completed"


async def test_pages_follow_each_other_and_have_everything_once(house: House) -> None:
    """A page that the server did not give is refused."""
    ids = [await house.ask(f"E-{number}") for number in range(5)]
    seen: list[str] = []
    after: str | None = None
    while True:
        page = await house.approvals.page("pending", size=2, after=after)
        seen += [entry.id for entry in page.entries]
        after = page.next
        if after is None:
            break
    assert len(seen) == len(set(seen))
    assert set(ids) <= set(seen)
    assert await code_of(house.approvals.page(after="é")) == "INPUT_INVALID"


async def test_an_approval_that_a_workflow_asked_for_names_it(house: House) -> None:
    """A single request has none."""
    alone = await house.ask("F-1")
    async with Worker(house.client, task_queue="errands", workflows=[Errand]):
        handle = await house.client.start_workflow(
            Errand.run, "F-2", id="errand-1", task_queue="errands"
        )

        async def asked_for() -> list[str]:
            listed = (await house.listed()).values()
            return [entry.id for entry in listed if entry.workflow_id == "errand-1"]

        (mine,) = await wait_until(asked_for)
        record: ApprovalRecord = await house.approvals.reject(mine, approver=BOB)
        assert record.workflow_id == "errand-1"
        assert await handle.result() == "failed"
    assert (await house.listed())[alone].workflow_id is None


class Reversed(PayloadCodec):
    """A codec that some clients have, and others have not."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Turns bytes around."""
        return [Payload(metadata={"encoding": b"turned"}, data=p.data[::-1]) for p in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """And back."""
        return [Payload(metadata={"encoding": b"json/plain"}, data=p.data[::-1]) for p in payloads]


async def test_a_client_without_the_payload_codec_is_told_so(house: House) -> None:
    """And shown all others: neither nothing, nor an error of the decoder."""
    other = await house.ask("G-1")
    config = house.client.config()
    config["data_converter"] = dataclasses.replace(
        config["data_converter"], payload_codec=Reversed()
    )
    coded = Client(**config)
    await coded.start_workflow(
        "temperance.Approval",
        None,
        id="approval-44444444-4444-5444-8444-444444444444",
        task_queue="of-nobody",
        memo={"temperance": {"capability": "shop.secret"}},
    )

    async def unreadable() -> int:
        page = await house.approvals.page()
        assert "shop.secret" not in {entry.capability for entry in page.entries}
        return page.unreadable

    assert await wait_until(unreadable) == 1
    readable: list[str] = []

    async def read_all() -> None:
        async for entry in house.approvals.list():
            readable.append(entry.id)

    with pytest.raises(CapabilityError, match=r"1 more cannot be read: .* payload codec"):
        await read_all()
    assert other in readable
    async with Browser.of(house) as browser:
        page = await browser.get("/")
    assert other in page.text
    assert "1 more cannot be read here" in page.text
