"""The guards of an approval: what may be decided, by whom, and what it covers (G3)."""

from functools import partial
from typing import Final

from tests.mutations.mutation import Mutation, in_file

_gate: Final = partial(Mutation, guarantee="G3", module="temperance.runtime.gate")
_approval: Final = partial(
    Mutation, guarantee="G3", module="temperance.workflows.approval", long=True
)

APPROVALS: Final = (
    _gate(
        name="an approval is of one input",
        guard="or grant.input_hash != request.input_hash",
        off="",
        killers=in_file(
            "runtime/test_gate.py",
            "g3_an_approval_of_another_input_or_execution_is_refused",
        ),
    ),
    _gate(
        name="an approval is of one execution",
        guard="grant.execution_id != request.execution_id or",
        off="",
        killers=in_file(
            "runtime/test_gate.py",
            "g3_an_approval_of_another_input_or_execution_is_refused",
        ),
    ),
    _gate(
        name="an expired approval is refused",
        guard="request.attempt == 1 and datetime.now(UTC) >= grant.expires_at",
        off="False",
        killers=in_file(
            "runtime/test_gate.py",
            "g3_an_approval_that_has_expired_is_refused_at_the_first_attempt_only",
        ),
    ),
    _gate(
        name="the requester's own approval is refused",
        guard="app.reject_self_approval and same_person(grant.approver, request.actor)",
        off="False",
        killers=in_file("runtime/test_gate.py", "g3_an_approver_who_is_the_requester_is_refused"),
    ),
    _gate(
        name="an approval covers what is demanded by now",
        guard="demand is not None and not set(demand.types) <= set(grant.types)",
        off="False",
        killers=in_file(
            "runtime/test_gate.py", "g3_policies_that_demand_more_than_was_approved_refuse"
        ),
    ),
    Mutation(
        name="without an approval nothing runs",
        guarantee="G8",
        module="temperance.runtime.admission",
        guard="return request if demand is None else ask(demand, request, call.output_limit)",
        off="return request",
        killers=in_file("runtime/test_guards.py", "g8_what_is_to_be_approved_does_not_run_before"),
    ),
    _approval(
        name="decisions are validated",
        long=False,
        guard="    @decide.validator\n",
        off="",
        killers=in_file(
            "guarantees/approvals/test_g3_refusals.py",
            "g3_what_is_no_decision_by_somebody_is_refused_and_leaves_no_event",
        ),
    ),
    _approval(
        name="a requester's own decision is refused",
        guard="current_run().app.reject_self_approval and self._asked(approver)",
        off="False",
        killers=in_file(
            "guarantees/approvals/test_g3_refusals.py",
            "g3_the_requester_is_refused_as_its_own_approver_and_may_withdraw",
        ),
    ),
    _approval(
        name="a decision after the expiry is refused",
        guard="workflow.now() >= self._record.expires_at",
        off="False",
        killers=in_file(
            "guarantees/approvals/test_g3_expiry.py",
            "g3_an_approval_that_no_worker_sees_before_its_expiry_expires",
        ),
    ),
    _approval(
        name="of many decisions one counts",
        guard="        raise CapabilityError(REFUSAL[state])",
        off="        return",
        killers=in_file(
            "guarantees/approvals/test_g3_races.py",
            "g3_of_a_hundred_decisions_at_once_one_counts_and_one_execution_follows",
        ),
    ),
    _approval(
        name="the application's rule about approvers is asked",
        guard="allowed = app.may_approve(approver, self._record) is True",
        off="allowed = True",
        killers=in_file(
            "guarantees/approvals/test_g3_refusals.py",
            "g3_who_the_application_does_not_let_decide_is_refused",
        ),
    ),
    Mutation(
        name="an approval is started once",
        guarantee="G3",
        module="temperance.workflows.asking",
        guard="id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE",
        off="id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE",
        killers=in_file(
            "guarantees/approvals/test_g3_resets.py",
            "g3_a_workflow_that_is_retried_gets_the_outcome_of_the_approval_it_asked_for",
        ),
        long=True,
        hangs=True,
    ),
    Mutation(
        name="only an approval workflow grants",
        guarantee="G3",
        module="temperance.activities.grant",
        guard="or info.workflow_type != APPROVAL_WORKFLOW",
        off="",
        killers=in_file(
            "guarantees/approvals/test_g3_forged.py",
            "g3_a_foreign_workflow_that_passes_an_approval_is_asked_for_one",
        ),
        long=True,
    ),
    Mutation(
        name="an approval workflow grants its own execution only",
        guarantee="G3",
        module="temperance.activities.grant",
        guard="if info.workflow_id == approval_id(ask.grant.execution_id) else None",
        off="",
        killers=in_file(
            "guarantees/approvals/test_g3_forged.py",
            "g3_an_approval_workflow_under_another_id_authorizes_nothing",
        ),
        long=True,
    ),
    Mutation(
        name="an outcome is given to the request that it is of",
        guarantee="G3",
        module="temperance.activities.approvals",
        guard="or not same",
        off="",
        killers=in_file(
            "guarantees/approvals/test_g3_resets.py",
            "g3_a_rewound_workflow_does_not_get_the_outcome_of_another_request",
        ),
        long=True,
    ),
)
