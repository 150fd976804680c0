"""What people decided, told from the approvals themselves and the gateway's books."""

from collections.abc import Iterable, Mapping, Sequence

from temperance import ApprovalRecord

from .records import CallRecord, Effect
from .shift_lead import Minutes, how_it_ended
from .staff import Worker
from .stories import Scene, Story

_WHY = (
    "An approval is a workflow of its own, so it outlives workers. It is bound to the exact input, "
    "is used once and expires, and whoever asked cannot give it."
)


_ALLOWED: Mapping[Effect, frozenset[int]] = {
    "none": frozenset({0}),
    "possible": frozenset({0, 1}),
    "done": frozenset({1}),
}


def approval_stories(
    scene: Scene, minutes: Iterable[Minutes], killed: Sequence[Worker]
) -> tuple[Story, ...]:
    """The stories of the refunds that waited for a person."""
    told: list[Story] = []
    for each in minutes:
        ticket, record = scene.tickets.get(each.ticket), scene.records.get(each.ticket)
        if ticket is None or ticket.order is None or record is None:
            continue
        call = record.call("orders.refund")
        if call is not None and each.record.capability == call.capability:
            told.append(_waited(scene, each, ticket.order, call, killed))
    return tuple(told)


def _outlived(record: ApprovalRecord, worker: Worker) -> bool:
    decision, killed_at = record.decision, worker.killed_at
    if decision is None or killed_at is None:
        return False
    return record.requested_at < killed_at < decision.at


def _waited(
    scene: Scene, minutes: Minutes, order: str, call: CallRecord, killed: Sequence[Worker]
) -> Story:
    record = minutes.record
    charges = [charge for charge in scene.premises.gateway.charges() if charge.order == order]
    lines = [f"asked by {record.actor}: {' '.join(record.reasons)}"]
    lines += [minutes.before] if minutes.before else []
    lines += [
        f"killed while it waited: {worker.name}" for worker in killed if _outlived(record, worker)
    ]
    lines.append(how_it_ended(record))
    lines += [minutes.after] if minutes.after else []
    approved = record.state in {"approved", "consumed"}
    amount = sum(charge.amount for charge in charges)
    count = f"{len(charges)} charge{'' if len(charges) == 1 else 's'}"
    lines.append(f"envelope: {call.status}, effect {call.effect}; {count}, {amount} EUR")
    return Story(
        title=f"{minutes.ticket}: a refund over the limit waited for a person",
        lines=tuple(lines),
        why=_WHY,
        holds=len(charges) in _ALLOWED[call.effect] and (approved or not charges),
        ticket=minutes.ticket,
    )
