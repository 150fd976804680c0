"""Inputs and outputs of any kind against types of any shape: judged alike by whichever door."""

import warnings
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_jsonable_python

from temperance import (
    App,
    ApprovalRequired,
    Capability,
    Completed,
    ConfigurationError,
    Failed,
    Governance,
    MemorySink,
    Redact,
)
from temperance.workflows.raw_input import UNWRITABLE, raw_input
from tests.fuzz.budget import budget
from tests.fuzz.judging import Door, Seen, invoke, judge
from tests.fuzz.objects import ANYTHING
from tests.fuzz.orders import one
from tests.fuzz.shapes import MODELS, SHAPES, Shape
from tests.fuzz.values import DOCUMENTS, PLAIN, TEXTS, mutations
from tests.runtime import models

SETTLED = [
    models.Strict,
    models.Lenient,
    models.Open,
    models.HoldsLenient,
    models.Aliased,
    models.Computed,
    models.Frozen,
    models.Sets,
    models.Payment,
    models.Node,
    models.Everything,
    models.Deferred,
    models.Guarded,
    dict[str, Any],
    list[int],
    Any,
]
"""Types that are known to be taken by a registry."""

VALID = st.sampled_from(
    [
        b'{"name":"a"}',
        b'{"name":"a","count":4}',
        b'{"inner":[{"name":"a","more":1}]}',
        b'{"orderId":"o","cardNumber":"1"}',
        b'{"amount":1}',
        b'{"key":"a","pair":[1,2]}',
        b'{"means":{"kind":"card","number":"1"}}',
        b'{"value":1,"children":[{"value":2}]}',
        b"[1,2]",
        b'{"password":"a","confirmed":true}',
        b"{}",
    ]
)


def governed(type_: Any, door: Door, sink: MemorySink) -> App | None:
    """Serves what takes the type and gives back what it took; ``None`` where no registry takes it.

    Raises:
        Exception: Anything but a `ConfigurationError`, which is a defect.
    """

    async def handler(input: Any) -> Any:
        door.entered += 1
        door.inputs.append(input)
        door.returned += 1
        return input

    handler.__annotations__ = {"input": type_, "return": type_}
    try:
        return App(Governance([one(handler, redact=Redact())]), sinks=[sink])
    except ConfigurationError:
        return None
    except BaseException as error:
        # An application whose own types end the process while it starts is the one to say so.
        if isinstance(error, Exception):
            raise
        return None


def entry_of(app: App) -> Capability[Any, Any]:
    """Its one capability."""
    (entry,) = app.governance.registry
    return entry


async def asked(type_: Any, value: object) -> tuple[Seen, Door] | None:
    """Asks for a type with a value."""
    door, sink = Door(), MemorySink()
    app = governed(type_, door, sink)
    if app is None:
        return None
    seen = await invoke(app, sink, entry_of(app), value)
    judge(seen, door)
    return seen, door


def shown(seen: Seen) -> tuple[object, ...]:
    """What must not depend on the door: all but ids, times and the words about an invalid input."""
    envelope, end = seen.envelope, seen.events[-1]
    code = None if isinstance(envelope, Completed | ApprovalRequired) else envelope.code
    output = to_jsonable_python(envelope.output) if isinstance(envelope, Completed) else None
    return envelope.status, code, envelope.effect, output, end.input_hash, end.error_code


@budget(3)
@given(st.sampled_from(SETTLED), DOCUMENTS | VALID | mutations(VALID))
async def test_g8_json_of_any_kind_is_taken_or_refused(type_: Any, data: bytes) -> None:
    """As bytes, and as the text of a model's tool call."""
    found = await asked(type_, data)
    assert found is not None
    seen, door = found
    if seen.envelope.status == "failed":
        assert door.entered == 0 or seen.envelope.code == "OUTPUT_INVALID"


@budget(3)
@given(st.sampled_from(SETTLED), ANYTHING)
async def test_g8_python_objects_of_any_kind_are_taken_or_refused(
    type_: Any, value: object
) -> None:
    """Also such as raise when they are looked at, and such as contain themselves."""
    assert await asked(type_, value) is not None


@budget(2)
@given(st.data())
async def test_g8_types_of_any_shape_are_refused_by_the_registry_or_serve(
    data: st.DataObject,
) -> None:
    """What a registry takes ends in an envelope, whatever is given for it."""
    shape: Shape = data.draw(MODELS | SHAPES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's, about shadowed names and odd defaults
        value = data.draw(shape.values | DOCUMENTS | ANYTHING)
        await asked(shape.type, value)


@budget(2)
@given(st.data())
async def test_g8_a_value_is_judged_alike_in_process_and_on_its_way_to_a_worker(
    data: st.DataObject,
) -> None:
    """The same hash, the same output, the same code."""
    shape: Shape = data.draw(MODELS | SHAPES | st.sampled_from(SETTLED).map(_anything_for))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = data.draw(shape.values)
        app = governed(shape.type, Door(), MemorySink())
        if app is None:
            return
        travelling = raw_input(entry_of(app), value, by_id=False)
        here = await asked(shape.type, value)
        if travelling is UNWRITABLE:
            assert here is not None
            assert here[0].envelope.status == "failed"
            return
        there = await asked(shape.type, travelling.json)
    assert here is not None
    assert there is not None
    assert shown(here[0]) == shown(there[0])


def _anything_for(type_: Any) -> Shape:
    return Shape(type_, PLAIN)


@budget()
@given(TEXTS | ANYTHING, TEXTS | DOCUMENTS)
async def test_g9_capability_ids_of_any_kind_are_not_found(name: object, text: str | bytes) -> None:
    """The envelope names what was asked for, cut and cleaned."""
    sink = MemorySink()
    app = governed(models.Strict, Door(), sink)
    assert app is not None
    seen = await invoke(app, sink, name, text)
    assert isinstance(seen.envelope, Failed)
    assert seen.envelope.code == "CAPABILITY_NOT_FOUND"
    assert len(seen.envelope.capability) <= 200
