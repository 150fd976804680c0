"""The premises: the folder that holds the shop, its gateway, its warehouse and its mail server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from .gateway import Gateway
from .mailserver import MailServer
from .models import Customer, OrderStatus
from .money import Money
from .shop import Booking, Shop, StockedOrder
from .tickets import Name
from .warehouse import Warehouse

HOME_VARIABLE = "SUPPORT_DESK_HOME"
"""The environment variable that tells a worker process where the premises are."""

DATA = Path(__file__).parent / "data"
"""The files that come with the demo."""

_LAST_SEEN: Mapping[OrderStatus, str] = {
    "packed": "the packing table",
    "shipped": "the parcel centre of the carrier",
    "delivered": "the customer's door",
    "returned": "the returns desk",
}

_Times = Annotated[int, Field(gt=0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Order(_Frozen):
    id: Name
    customer: Name
    item: str
    total: Money
    status: OrderStatus


class _EarlierRefund(_Frozen):
    order: Name
    amount: Money
    key: str
    ticket: Name


class Incidents(_Frozen):
    """What goes wrong in the demo, and where: orders and tickets with how often it happens."""

    warehouse_fails_first: dict[str, _Times]
    gateway_gives_no_answer: dict[str, _Times]
    mail_server_gives_no_answer: dict[str, _Times]
    kill_a_worker_during: tuple[str, ...]


class Ruling(_Frozen):
    """What the shift lead says of a ticket in the demo, and whether only after the kill."""

    approve: bool
    comment: str
    after_the_kill: bool = False


class Stock(_Frozen):
    """What the shop starts with: `data/shop.json`."""

    customers: tuple[Customer, ...]
    orders: tuple[_Order, ...]
    earlier_refunds: tuple[_EarlierRefund, ...]
    incidents: Incidents
    decisions: dict[str, Ruling]


class Premises:
    """Where everything is. The object holds no connection and can be made anywhere."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.shop = Shop(home / "shop.db")
        self.gateway = Gateway(home / "gateway.db")
        self.warehouse = Warehouse(home / "warehouse.db")
        self.mail_server = MailServer(home / "mail.db")

    @property
    def taken(self) -> bool:
        """Whether the folder already holds a shop."""
        return (self.home / "shop.db").exists()

    def create(self, stock: Stock) -> None:
        """Fills an empty folder with what the shop starts with."""
        incidents = stock.incidents
        self.shop.create(
            stock.customers,
            [StockedOrder(o.id, o.customer, o.item, o.total, o.status) for o in stock.orders],
            [
                Booking(r.key, r.order, r.ticket, r.amount, f"ch_earlier_{r.order}")
                for r in stock.earlier_refunds
            ],
        )
        self.gateway.create(incidents.gateway_gives_no_answer)
        self.warehouse.create(
            {o.id: _LAST_SEEN[o.status] for o in stock.orders}, incidents.warehouse_fails_first
        )
        self.mail_server.create(incidents.mail_server_gives_no_answer)


def bundled_stock() -> Stock:
    """The stock that comes with the demo."""
    return Stock.model_validate_json((DATA / "shop.json").read_bytes())


def bundled_tickets() -> Path:
    """The file of tickets that comes with the demo."""
    return DATA / "tickets.jsonl"
