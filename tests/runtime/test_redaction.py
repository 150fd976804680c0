"""Redaction: what never leaves the worker, and what approvers are shown (G10)."""

import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel, computed_field, model_serializer, model_validator

from temperance.runtime.capability import Capability, Redact
from temperance.runtime.error import CapabilityError, RegistryError
from temperance.runtime.redaction import apply, displayed_input
from temperance.runtime.registry import CapabilityRegistry
from temperance.runtime.schema import Schema
from tests.runtime.orders import make

SECRET = "hunter2"


class Card(BaseModel):
    number: str = ""
    holder: str | None = Field(default=None, alias="cardHolder")


class Line(BaseModel):
    name: str
    card: Card | None = None
    price: int = 0


class Voucher(BaseModel):
    kind: Literal["voucher"] = "voucher"
    code: str = ""


class Bank(BaseModel):
    kind: Literal["bank"] = "bank"
    iban: str


class Bill(BaseModel):
    bill_id: str
    secret: str | None = None
    required: str = Field(default=SECRET)
    lines: list[Line] = []
    means: Voucher | Bank = Field(default_factory=lambda: Bank(iban="CH1"), discriminator="kind")
    by_name: dict[str, Card] = {}
    must: str
    parent: "Bill | None" = None

    @computed_field
    def length(self) -> int:
        return len(self.lines)


class Bills(RootModel[list[Bill]]):
    pass


BILL = Bill(
    bill_id="b-1",
    secret=SECRET,
    must="x",
    lines=[
        Line(name="a", card=Card(number=SECRET, cardHolder=SECRET)),
        Line(name="b"),
    ],
    means=Voucher(code=SECRET),
    parent=Bill(bill_id="b-0", must="y", secret=SECRET),
)


def redacting(output: Any = None, approval_input: Any = None, type_: Any = Bill) -> Any:
    def handler(input: Any) -> Any: ...

    handler.__annotations__ = {"input": type_, "return": type_}
    return make(handler=handler, redact=Redact(output=output, approval_input=approval_input))


def redact(*paths: str) -> Any:
    return json.loads(apply(paths, Schema(Bill), BILL))


def test_g10_a_field_that_a_path_names_is_absent_from_the_json() -> None:
    assert "secret" not in redact("secret")
    assert redact("secret")["bill_id"] == "b-1"


def test_g10_a_path_goes_through_models_lists_and_variants_of_a_union() -> None:
    redacted = redact("lines.card.number", "means.code")

    assert redacted["lines"] == [
        {"name": "a", "card": {"holder": SECRET}, "price": 0},
        {"name": "b", "card": None, "price": 0},
    ]
    assert redacted["means"] == {"kind": "voucher"}


def test_g10_a_path_through_a_model_that_holds_itself_goes_as_deep_as_it_says() -> None:
    redacted = redact("parent.secret")

    assert redacted["secret"] == SECRET
    assert "secret" not in redacted["parent"]


def test_g10_all_paths_together_leave_nothing_of_the_secret() -> None:
    paths = ("secret", "required", "lines.card", "means.code", "parent.secret", "parent.required")

    assert SECRET.encode() not in apply(paths, Schema(Bill), BILL)


def test_what_is_left_is_read_back_with_the_defaults() -> None:
    schema = Schema(Bill)
    read = schema.read(apply(("secret", "lines"), schema, BILL))

    assert read.secret is None
    assert read.lines == []
    assert read.must == "x"


def test_a_path_goes_through_a_list_at_the_root() -> None:
    redacted = json.loads(apply(("secret",), Schema(Bills), Bills([BILL])))

    assert "secret" not in redacted[0]


def test_numbers_and_text_beside_a_redacted_field_are_not_changed() -> None:
    class Numbers(BaseModel):
        big: int = 2**80
        small: float = 0.1
        text: str = "☃\u2028"
        secret: str = SECRET

    data = apply(("secret",), Schema(Numbers), Numbers())

    assert data == '{"big":1208925819614629174706176,"small":0.1,"text":"☃\u2028"}'.encode()


def test_g10_a_function_gives_what_may_be_seen() -> None:
    def mask(bill: Bill) -> Bill:
        return bill.model_copy(update={"secret": "***", "parent": None, "lines": []})

    data = apply(mask, Schema(Bill), BILL)

    assert json.loads(data)["secret"] == "***"


def test_a_function_may_give_plain_data_that_fits_the_type() -> None:
    data = apply(lambda bill: {"bill_id": bill.bill_id, "must": ""}, Schema(Bill), BILL)

    assert Schema(Bill).read(data).bill_id == "b-1"


def _raises(_: Bill) -> object:
    raise ValueError(SECRET)


async def _later(bill: Bill) -> object:
    return bill


BROKEN: list[Callable[[Bill], object]] = [
    _raises,
    _later,
    lambda _: None,
    lambda _: SECRET,
    lambda _: {"bill_id": SECRET},
    lambda _: {"bill_id": "b", "must": "m", "more": SECRET},
    lambda bill: bill.model_copy(update={"lines": SECRET}),
    lambda bill: bill.model_copy(update={"must": None}),
    lambda _: Bill.model_construct(bill_id="b", must="m", lines=[object()]),  # type: ignore[list-item]
]


@pytest.mark.parametrize("function", BROKEN)
def test_g10_whatever_goes_wrong_in_a_function_closes_and_says_nothing(
    function: Callable[[Bill], object],
) -> None:
    with pytest.raises(CapabilityError) as raised:
        apply(function, Schema(Bill), BILL)

    error = raised.value
    assert (error.code, error.stage, error.retryable) == ("INTERNAL_ERROR", "redaction", False)
    assert SECRET not in f"{error} {error!r} {error.public().model_dump_json()}"
    assert error.__suppress_context__


def test_g10_what_is_left_must_please_the_validators_of_the_whole_model() -> None:
    class Balanced(BaseModel):
        debit: int = 0
        credit: int = 0

        @model_validator(mode="after")
        def _balances(self) -> "Balanced":
            if self.debit != self.credit:
                raise ValueError(SECRET)
            return self

    with pytest.raises(CapabilityError) as raised:
        apply(("debit",), Schema(Balanced), Balanced(debit=5, credit=5))

    assert raised.value.stage == "redaction"


def registered(entry: Capability[Any, Any]) -> bool:
    return entry in CapabilityRegistry([entry])


@pytest.mark.parametrize(
    "path", ["secret", "lines", "lines.card", "lines.card.number", "means.code", "parent.secret"]
)
def test_a_path_to_a_field_with_a_default_is_accepted(path: str) -> None:
    assert registered(redacting(output=(path,)))


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "nothing",
        "secret.more",
        "lines.nothing",
        "lines.0.card",
        "by_name.number",
        "by_name.x.number",
        "length",
        "lines.card.cardHolder",
        "Secret",
        7,
    ],
)
def test_a_path_that_the_type_does_not_have_is_refused(path: Any) -> None:
    for rules in ({"output": (path,)}, {"approval_input": (path,)}):
        with pytest.raises(RegistryError, match="which the type does not have"):
            registered(redacting(**rules))


@pytest.mark.parametrize("path", ["bill_id", "must", "lines.name", "means.iban"])
def test_a_field_of_the_output_without_a_default_cannot_be_left_out(path: str) -> None:
    with pytest.raises(RegistryError, match="a field without a default"):
        registered(redacting(output=(path,)))

    assert registered(redacting(approval_input=(path,)))


def test_a_field_must_have_a_default_in_every_variant_of_a_union() -> None:
    class Lax(BaseModel):
        secret: str = ""

    class Firm(BaseModel):
        secret: str

    with pytest.raises(RegistryError, match="a field without a default"):
        registered(redacting(output=("secret",), type_=Lax | Firm))


def test_g10_a_path_is_refused_where_the_model_writes_itself_under_other_names() -> None:
    class Renaming(BaseModel):
        secret: str = ""

        @model_serializer
        def _rename(self) -> dict[str, str]:
            return {"renamed": self.secret}

    with pytest.raises(RegistryError, match="which the type does not have"):
        registered(redacting(output=("secret",), type_=Renaming))


@pytest.mark.parametrize("rule", ["secret", ["secret"], 5, {"secret"}])
def test_a_rule_that_is_neither_paths_nor_a_function_is_refused(rule: Any) -> None:
    with pytest.raises(RegistryError, match="neither a tuple of dot paths nor a function"):
        registered(redacting(output=rule))


def test_an_empty_or_async_rule_is_refused() -> None:
    with pytest.raises(RegistryError, match=r"redact\.output is empty"):
        registered(redacting(output=()))
    with pytest.raises(RegistryError, match="async function"):
        registered(redacting(approval_input=_later))


def test_something_else_in_place_of_redact_is_refused() -> None:
    with pytest.raises(RegistryError, match=r"give Redact\(\.\.\.\)"):
        registered(make(redact=("secret",)))


def test_approvers_see_the_whole_input_unless_a_rule_says_otherwise() -> None:
    shown = displayed_input(redacting(), BILL)

    assert isinstance(shown, dict)
    assert shown["secret"] == SECRET


def test_g10_approvers_do_not_see_what_paths_leave_out() -> None:
    entry = redacting(approval_input=("secret", "must"))
    shown = displayed_input(entry, BILL)

    assert isinstance(shown, dict)
    assert not {"secret", "must"} & shown.keys()


def test_approvers_see_whatever_a_function_makes_of_the_input() -> None:
    def summary(bill: Bill) -> object:
        return {"bill": bill.bill_id, "lines": len(bill.lines)}

    entry = redacting(approval_input=summary)

    assert displayed_input(entry, BILL) == {"bill": "b-1", "lines": 2}


UNSHOWABLE: list[Callable[[Bill], object]] = [
    _raises,
    _later,
    lambda _: None,
    lambda _: object(),
]


@pytest.mark.parametrize("function", UNSHOWABLE)
def test_g10_a_function_that_fails_shows_approvers_nothing(
    function: Callable[[Bill], object],
) -> None:
    with pytest.raises(CapabilityError) as raised:
        displayed_input(redacting(approval_input=function), BILL)

    assert raised.value.stage == "redaction"
    assert SECRET not in str(raised.value)
