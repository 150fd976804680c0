"""Capabilities whose module notes that it is executed."""

from pydantic import BaseModel

from temperance import App, DeclaredError, Governance, MemorySink, capability
from tests.facade.plugged.executions import note_execution
from tests.facade.plugged.shapes import Size

note_execution(__name__)


class Box(BaseModel):
    label: str
    size: Size = Size()


class Stuck(DeclaredError):
    reason = "STUCK"


@capability(
    "boxes.pack", description="Pack.", expose={"workflow", "direct"}, side_effect="none", risk="low"
)
def pack(input: Box) -> Box:
    return input


@capability(
    "boxes.stick",
    description="Fail, and say so.",
    expose={"workflow", "direct"},
    side_effect="none",
    risk="low",
)
def stick(input: Box) -> Box:
    raise Stuck(f"{input.label} is stuck.", details={"label": input.label})


@capability(
    "boxes.forgotten", description="Never.", expose={"workflow"}, side_effect="none", risk="low"
)
def forgotten(input: Box) -> Box:
    return input


BOXES = [pack, stick]


def boxes(sink: MemorySink) -> App:
    """The application."""
    return App(Governance(BOXES), sinks=[sink])
