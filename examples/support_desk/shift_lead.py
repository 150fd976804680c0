"""The shift lead: decides what the agent may not do alone.

What waits is found where everybody finds it, in the server's list, and decided by the same calls as
from the command line and on the web. In the demo a script decides; with `--ask` a person does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from temperance import Actor, ApprovalRecord, Approvals, CapabilityError

from .premises import Ruling
from .workflow import DESK

SHIFT_LEAD: Final = Actor(id="shift-lead")
"""Who decides; another than who asks, which is the desk itself."""

POLL_SECONDS: Final = 0.2

Source = Literal["cli", "web", "api"]


@dataclass(frozen=True, slots=True)
class Minutes:
    """What was decided of a ticket.

    `before` and `after` are the decisions that did not count: who tried, and how it was refused.
    """

    ticket: str
    record: ApprovalRecord
    before: str | None = None
    after: str | None = None


@dataclass
class ShiftLead:
    """Attends to whatever waits for a person.

    Args:
        approvals: Of the server.
        decide: Has one decided, and concludes it: a script, or a person.
        put_aside: Told of each ticket that waits.
        tell: Shows a line.
    """

    approvals: Approvals
    decide: "Callable[[ShiftLead, Minutes], Awaitable[None]]"
    put_aside: Callable[[str], None]
    tell: Callable[[str, str], None]
    minutes: dict[str, Minutes] = field(default_factory=dict[str, Minutes])

    def __post_init__(self) -> None:
        self._attending: list[asyncio.Task[None]] = []

    async def keep(self) -> None:
        """Attends until it is cancelled. The list is polled: nobody is told of a new approval."""
        seen: set[str] = set()
        async with asyncio.TaskGroup() as group:
            while True:
                async for summary in self.approvals.list():
                    if summary.state == "pending" and summary.id not in seen:
                        seen.add(summary.id)
                        self._attending.append(group.create_task(self._attend(summary.id)))
                await asyncio.sleep(POLL_SECONDS)

    async def settled(self) -> None:
        """Waits until nothing is being decided."""
        await asyncio.gather(*self._attending)

    async def rule(
        self, minutes: Minutes, ruling: Ruling, source: Source = "api"
    ) -> ApprovalRecord:
        """Decides as the shift lead.

        Raises:
            CapabilityError: It does not count, and why.
        """
        decide = self.approvals.approve if ruling.approve else self.approvals.reject
        return await decide(
            minutes.record.id, approver=SHIFT_LEAD, comment=ruling.comment or None, source=source
        )

    async def refusal(self, minutes: Minutes, who: Actor) -> str:
        """Lets somebody approve who must not, or comes too late, and says what they are told."""
        try:
            await self.approvals.approve(minutes.record.id, approver=who)
        except CapabilityError as error:
            return f"{who} tries to approve it, and is refused: {error.code}"
        return f"{who} was allowed to approve it"

    def conclude(self, minutes: Minutes) -> None:
        """Tells who decided, whoever it was, and keeps it."""
        self.minutes[minutes.ticket] = minutes
        self.tell(f"{minutes.ticket}: {how_it_ended(minutes.record)}", "bold cyan")

    async def _attend(self, approval: str) -> None:
        record = await self.approvals.show(approval)
        ticket = (record.workflow_id or "").removeprefix("support-")
        self.put_aside(ticket)
        self.tell(f"{ticket}: {record.capability} waits for a person: {record.reasons[0]}", "cyan")
        await self.decide(self, Minutes(ticket, record))


def how_it_ended(record: ApprovalRecord) -> str:
    """Who decided what, through which door, in which words."""
    decision = record.decision
    if decision is None:
        return f"{record.state}: nobody decided"
    verdict = "approved" if record.state in {"approved", "consumed"} else record.state
    words = f': "{decision.comment}"' if decision.comment else ""
    return f"{verdict} by {decision.by} ({decision.source}){words}"


@dataclass(frozen=True, slots=True)
class Script:
    """Decides as the shop's data says, and shows which decisions do not count.

    Args:
        rulings: By ticket. What is not in them is rejected.
        killed: Set once a worker was killed, or none is to be.
    """

    rulings: Mapping[str, Ruling]
    killed: asyncio.Event

    async def __call__(self, lead: ShiftLead, minutes: Minutes) -> None:
        """Who asked tries first, then the shift lead decides, then somebody else is too late."""
        ruling = self.rulings.get(minutes.ticket, _NOT_LOOKED_AT)
        before = await lead.refusal(minutes, DESK)
        if ruling.after_the_kill:
            await self.killed.wait()
        record = await lead.rule(minutes, ruling)
        minutes = replace(minutes, record=record, before=before)
        lead.conclude(minutes)
        after = await lead.refusal(minutes, Actor(id="somebody-else"))
        lead.minutes[minutes.ticket] = replace(minutes, after=after)


_NOT_LOOKED_AT: Final = Ruling(approve=False, comment="Nobody looked at it: --ask lets you decide.")
