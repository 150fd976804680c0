"""A module that only the models of another one come from."""

from pydantic import BaseModel

from tests.facade.plugged.executions import note_execution

note_execution(__name__)


class Size(BaseModel):
    width: int = 1
