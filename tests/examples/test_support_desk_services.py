"""The gateway, the mail server and the warehouse: what they remember, and how they misbehave."""

import asyncio
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from support_desk.gateway import Gateway, KeyReusedError
from support_desk.mailserver import MailServer
from support_desk.money import from_cents, to_cents
from support_desk.warehouse import Warehouse, WarehouseError

TEN = Decimal("10.00")


@pytest.fixture
def gateway(tmp_path: Path) -> Gateway:
    gateway = Gateway(tmp_path / "gateway.db")
    gateway.create({"A-6": 1})
    return gateway


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - a file is watched: nothing could set an event
        await asyncio.sleep(0.005)


async def give_up(waiting: asyncio.Task[object]) -> None:
    """Cancels a task that hangs, as an attempt's deadline does."""
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_the_same_key_gets_the_recorded_charge(gateway: Gateway) -> None:
    first = await gateway.refund("A-1", TEN, key="k1")
    again = await gateway.refund("A-1", TEN, key="k1")
    assert first == again
    assert gateway.charges() == (first,)
    assert [r.outcome for r in gateway.requests("A-1")] == ["moved", "known"]


async def test_another_key_moves_money_again(gateway: Gateway) -> None:
    await gateway.refund("A-1", TEN, key="k1")
    await gateway.refund("A-1", TEN, key="k2")
    assert len(gateway.charges()) == 2


@pytest.mark.parametrize(("order", "amount"), [("A-1", "10.01"), ("A-2", "10.00")])
async def test_a_key_with_another_payment_is_refused_and_recorded(
    gateway: Gateway, order: str, amount: str
) -> None:
    await gateway.refund("A-1", TEN, key="k1")
    with pytest.raises(KeyReusedError):
        await gateway.refund(order, Decimal(amount), key="k1")
    assert len(gateway.charges()) == 1
    assert gateway.requests(order)[-1].outcome == "refused"


async def test_without_an_answer_the_money_has_moved_and_the_next_request_knows_it(
    gateway: Gateway,
) -> None:
    waiting = asyncio.create_task(gateway.refund("A-6", TEN, key="k1"))
    await until(lambda: bool(gateway.requests("A-6")))
    assert len(gateway.charges()) == 1
    await give_up(waiting)
    await gateway.refund("A-6", TEN, key="k1")
    assert len(gateway.charges()) == 1
    first, second = gateway.requests("A-6")
    assert (first.outcome, first.answered) == ("moved", False)
    assert (second.outcome, second.answered, second.pid) == ("known", True, os.getpid())


async def test_a_gateway_opened_by_another_process_knows_the_same_keys(tmp_path: Path) -> None:
    one, other = Gateway(tmp_path / "gateway.db"), Gateway(tmp_path / "gateway.db")
    one.create({})
    await one.refund("A-1", TEN, key="k1")
    await other.refund("A-1", TEN, key="k1")
    assert len(one.charges()) == 1


async def test_the_mail_server_sends_as_often_as_it_is_asked(tmp_path: Path) -> None:
    server = MailServer(tmp_path / "mail.db")
    server.create({})
    for _ in range(2):
        await server.send(ticket="T-1", to="ada@example.com", subject="Re", body="Dear Ada")
    assert [letter.receipted for letter in server.letters()] == [True, True]


async def test_a_letter_without_a_receipt_was_sent_all_the_same(tmp_path: Path) -> None:
    server = MailServer(tmp_path / "mail.db")
    server.create({"T-1": 1})
    waiting = asyncio.create_task(
        server.send(ticket="T-1", to="ada@example.com", subject="Re", body="Dear Ada")
    )
    await until(lambda: bool(server.letters()))
    await give_up(waiting)
    (letter,) = server.letters()
    assert not letter.receipted


def test_the_warehouse_fails_as_often_as_it_was_told_whoever_asks(tmp_path: Path) -> None:
    Warehouse(tmp_path / "warehouse.db").create({"A-3": "shelf 7"}, {"A-3": 2})
    for _ in range(2):
        with pytest.raises(WarehouseError):
            Warehouse(tmp_path / "warehouse.db").last_seen("A-3")
    warehouse = Warehouse(tmp_path / "warehouse.db")
    assert warehouse.last_seen("A-3") == "shelf 7"
    assert [r.answered for r in warehouse.reads("A-3")] == [False, False, True]


def test_money_survives_the_way_into_cents_and_back() -> None:
    assert to_cents(Decimal("34.9")) == 3490
    assert from_cents(3490) == Decimal("34.90")
    with pytest.raises(ValueError, match="two decimals"):
        to_cents(Decimal("0.001"))
