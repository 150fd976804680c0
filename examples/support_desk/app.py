"""The support desk's application: what `temperance worker support_desk.app:app` serves."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temperance import App, Governance, Request

from . import capabilities
from .premises import HOME_VARIABLE, Premises
from .rules import declare_refusals, only_people
from .workflow import SupportTicket

TASK_QUEUE = "support-desk"


@asynccontextmanager
async def open_premises(request: Request[Any, Any]) -> AsyncGenerator[Premises]:
    """The application's context of one attempt: the premises that the worker was started for."""
    del request
    yield Premises(Path(os.environ[HOME_VARIABLE]))


app = App(
    governance=Governance(
        [
            capabilities.look_up_customer,
            capabilities.look_up_order,
            capabilities.refund_order,
            capabilities.change_address,
            capabilities.erase_customer,
            capabilities.draft_mail,
            capabilities.send_mail,
        ],
        middleware=[declare_refusals],
    ),
    context=open_premises,
    workflows=[SupportTicket],
    modules=[capabilities],
    task_queue=TASK_QUEUE,
    may_approve=only_people,
)
