"""The three incidents, told from the books of those who saw them.

Every line comes from a database: what the gateway was asked, what the warehouse answered, which
letters left. A story holds when nothing happened twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .premises import Incidents, Premises
from .records import CallRecord, TicketRecord
from .tickets import Ticket

_SHOWN_KEY = 8


@dataclass(frozen=True, slots=True)
class Story:
    """What happened, line by line, why it is so, and whether the promise was kept."""

    title: str
    lines: tuple[str, ...]
    why: str
    holds: bool
    ticket: str


@dataclass(frozen=True, slots=True)
class Scene:
    """What a story is told from. `workers` are the names of the worker processes by process id."""

    premises: Premises
    tickets: Mapping[str, Ticket]
    records: dict[str, TicketRecord]
    workers: Mapping[int, str]

    def worker(self, pid: int) -> str:
        return self.workers.get(pid, f"process {pid}")


def stories(scene: Scene, incidents: Incidents, killed: Iterable[int]) -> tuple[Story, ...]:
    """The stories of the incidents that these tickets met."""
    victims = set(incidents.kill_a_worker_during)
    told: list[Story] = []
    for ticket in scene.tickets.values():
        record = scene.records.get(ticket.id)
        if record is None or ticket.order is None or ticket.id in victims:
            continue
        refund, lookup = record.call("orders.refund"), record.call("orders.lookup")
        if ticket.order in incidents.gateway_gives_no_answer and refund is not None:
            told.append(_no_answer(scene, ticket.id, ticket.order, refund))
        if ticket.order in incidents.warehouse_fails_first and lookup is not None:
            told.append(_flaky_read(scene, ticket.id, ticket.order, lookup))
    dead = set(killed)
    for victim in incidents.kill_a_worker_during:
        record, ticket_ = scene.records.get(victim), scene.tickets.get(victim)
        if not dead or record is None or ticket_ is None:
            continue
        refund, letter = record.call("orders.refund"), record.call("mail.send")
        if refund is not None and ticket_.order is not None:
            told.append(_killed_refund(scene, victim, ticket_.order, refund))
        elif letter is not None:
            told.append(_killed_letter(scene, victim, letter))
    return tuple(told)


def _no_answer(scene: Scene, ticket: str, order: str, call: CallRecord) -> Story:
    return Story(
        title=f"{ticket}: the gateway timed out after the money had moved",
        lines=(*_payments(scene, order), _summary(scene, order, call)),
        why="orders.refund declares idempotent=True and a Retry, so the timeout is retried. All "
        "attempts of one execution carry one key, and the gateway pays once per key.",
        holds=_paid_once(scene, order, call),
        ticket=ticket,
    )


def _killed_refund(scene: Scene, ticket: str, order: str, call: CallRecord) -> Story:
    return Story(
        title=f"{ticket}: the worker was killed while it waited for the gateway",
        lines=(*_payments(scene, order), _summary(scene, order, call)),
        why="Temporal heard no more of the dead worker's attempt and gave the execution to another "
        "worker. The write is idempotent, so it ran again under its key, and the gateway knew it.",
        holds=_paid_once(scene, order, call),
        ticket=ticket,
    )


def _killed_letter(scene: Scene, ticket: str, call: CallRecord) -> Story:
    letters = [each for each in scene.premises.mail_server.letters() if each.ticket == ticket]
    lines = [
        f"letter {each.number} by {scene.worker(each.pid)}: accepted by the mail server, "
        + ("receipt given" if each.receipted else "killed before the receipt")
        for each in letters
    ]
    lines.append(
        f"envelope: {call.status}, effect {call.effect}, {_attempts(call)}; "
        f"{len(letters)} letter in the outbox"
    )
    return Story(
        title=f"{ticket}: the worker was killed while it waited for the mail server",
        lines=tuple(lines),
        why="mail.send is not idempotent. Nobody knows whether the letter left, so it is not sent "
        "again: the envelope says that an effect is possible, and a person looks into it.",
        holds=len(letters) == 1 and call.effect == "possible" and call.attempts == 1,
        ticket=ticket,
    )


def _flaky_read(scene: Scene, ticket: str, order: str, call: CallRecord) -> Story:
    reads = scene.premises.warehouse.reads(order)
    lines = [
        f"read {n} by {scene.worker(read.pid)}: " + ("answered" if read.answered else "failed")
        for n, read in enumerate(reads, start=1)
    ]
    lines.append(f"envelope: {call.status}, {_attempts(call)}")
    return Story(
        title=f"{ticket}: the warehouse failed before it answered",
        lines=tuple(lines),
        why="orders.lookup is a read with Retry(max_retries=2): three attempts of one execution.",
        holds=call.status == "completed" and call.attempts == len(reads),
        ticket=ticket,
    )


def _payments(scene: Scene, order: str) -> list[str]:
    outcomes = {
        "moved": "the money moved",
        "known": "the gateway knew the key: the recorded charge, nothing moved",
        "refused": "refused: the key belongs to another payment",
    }
    return [
        f"request {n} by {scene.worker(request.pid)}, key {request.key[:_SHOWN_KEY]}...: "
        + outcomes[request.outcome]
        + ("" if request.answered else ", and no answer came")
        for n, request in enumerate(scene.premises.gateway.requests(order), start=1)
    ]


def _summary(scene: Scene, order: str, call: CallRecord) -> str:
    keys = {request.key for request in scene.premises.gateway.requests(order)}
    charges = [charge for charge in scene.premises.gateway.charges() if charge.order == order]
    amount = sum(charge.amount for charge in charges)
    return (
        f"envelope: {call.status}, {_attempts(call)}; "
        f"{len(keys)} key, {len(charges)} charge, {amount} EUR"
    )


def _attempts(call: CallRecord) -> str:
    """How many attempts, and how those before the last one ended."""
    count = f"{call.attempts} attempt" + ("" if call.attempts == 1 else "s")
    return f"{count} ({', '.join(call.errors)} before)" if call.errors else count


def _paid_once(scene: Scene, order: str, call: CallRecord) -> bool:
    requests = scene.premises.gateway.requests(order)
    charges = [charge for charge in scene.premises.gateway.charges() if charge.order == order]
    return (
        call.status == "completed"
        and len(charges) == 1
        and len({request.key for request in requests}) == 1
        and call.attempts == len(requests)
    )
