"""An application's module of capabilities, as large as a real one: 31 with models of their own.

It counts how often it is imported. A worker whose sandbox imports it again for each workflow pays
for building all the models each time, and would govern by a second registry.
"""

from typing import Final

from pydantic import BaseModel, create_model

from temperance import Capability, capability

from . import imports

imports.count_one()

SIZE: Final = 31


def _model(name: str) -> type[BaseModel]:
    return create_model(name, order_id=(str, ...), cents=(int, 0), note=(str | None, None))


def _entry(number: int) -> Capability[BaseModel, BaseModel]:
    async def handler(input: BaseModel) -> BaseModel:
        return input

    model = _model(f"Order{number}")
    handler.__annotations__ = {"input": model, "return": model}
    return capability(
        f"catalogue.entry_{number}",
        description="One of many.",
        expose={"agent"},
        side_effect="read",
        risk="low",
    )(handler)


CATALOGUE: Final = [_entry(number) for number in range(SIZE)]
