"""The shop keeps its own rules, whoever asks and however many ask at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from support_desk.premises import Premises, bundled_stock
from support_desk.shop import Rule, Shop, ShopError

BLANKET = {"order": "A-2002", "customer": "C-02"}  # 34.90, nothing refunded yet
BASKETS = {"order": "A-2021", "customer": "C-09"}  # 60.00, of which 20.00 are refunded


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    premises = Premises(tmp_path)
    premises.create(bundled_stock())
    return premises.shop


def refund(shop: Shop, amount: str, key: str, **about: str) -> None:
    shop.open_refund(about["order"], about["customer"], Decimal(amount), ticket="T-1", key=key)


def refusal(shop: Shop, amount: str, **about: str) -> Rule:
    with pytest.raises(ShopError) as caught:
        refund(shop, amount, "another-key", **about)
    return caught.value.rule


def test_an_order_is_shown_with_what_was_refunded_of_it(shop: Shop) -> None:
    assert shop.order("A-2021", "C-09").refunded == Decimal("20.00")
    assert shop.order("A-2002", "C-02").refunded == Decimal("0.00")


def test_a_customer_is_found_by_address(shop: Shop) -> None:
    assert shop.customer("ada.hoffmann@example.com").id == "C-01"
    with pytest.raises(ShopError, match="UNKNOWN_CUSTOMER"):
        shop.customer("nobody@example.com")


def test_unknown_orders_and_those_of_others_are_refused(shop: Shop) -> None:
    assert refusal(shop, "1.00", order="A-9999", customer="C-01") == "UNKNOWN_ORDER"
    assert refusal(shop, "1.00", order="A-2002", customer="C-01") == "NOT_YOUR_ORDER"


def test_partial_refunds_add_up_to_the_total_and_no_further(shop: Shop) -> None:
    assert refusal(shop, "40.01", **BASKETS) == "MORE_THAN_IS_LEFT"
    refund(shop, "40.00", "k1", **BASKETS)
    assert refusal(shop, "0.01", **BASKETS) == "ALREADY_REFUNDED"


def test_the_same_key_finds_its_own_booking_even_when_nothing_is_left(shop: Shop) -> None:
    refund(shop, "34.90", "k1", **BLANKET)
    refund(shop, "34.90", "k1", **BLANKET)
    shop.close_refund("k1", "ch_1")
    refund(shop, "34.90", "k1", **BLANKET)
    (booking,) = [b for b in shop.refunds() if b.order == "A-2002"]
    assert (booking.amount, booking.charge) == (Decimal("34.90"), "ch_1")


def test_of_many_refunds_at_once_one_is_booked(shop: Shop) -> None:
    together = threading.Barrier(8)

    def attempt(number: int) -> bool:
        together.wait()
        try:
            refund(shop, "34.90", f"k{number}", **BLANKET)
        except ShopError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_a_changed_address_and_an_erased_customer_are_counted(shop: Shop) -> None:
    shop.change_address("A-2013", "C-01", "elsewhere")
    shop.erase_customer("C-07")
    assert (shop.changed_addresses(), shop.erased_customers()) == (1, 1)


def test_a_missing_folder_is_named_instead_of_created(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no folder"):
        Shop(tmp_path / "absent" / "shop.db").refunds()
