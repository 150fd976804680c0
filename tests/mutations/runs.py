"""The guards of executions in workflow runs: keys, limits, late attempts, resets (G2 to G11)."""

from functools import partial
from typing import Final

from tests.mutations.mutation import Mutation, in_file

_consult: Final = partial(Mutation, guarantee="G11", module="temperance.activities.consult")
_AFTER_RETRY: Final = in_file(
    "guarantees/runs/test_g11_workflow_retry.py",
    "g11_a_write_that_completed_gives_its_recorded_result_after_a_workflow_retry",
)

RUNS: Final = (
    Mutation(
        name="the server is told how many attempts",
        guarantee="G2",
        module="temperance.workflows.options",
        guard="maximum_attempts=plan.maximum_attempts",
        off="maximum_attempts=0",
        killers=in_file(
            "guarantees/retries/test_g2_writes.py",
            "g2_a_write_that_fails_after_its_effect_is_not_tried_again",
        ),
        long=True,
    ),
    Mutation(
        name="a write is no local activity",
        guarantee="G2",
        module="temperance.activities.consult",
        guard="if info.is_local and not repeatable:",
        off="if False:",
        killers=in_file(
            "guarantees/runs/test_g2_local_activities.py",
            "g2_a_write_that_foreign_code_runs_as_a_local_activity_is_refused",
        ),
        long=True,
    ),
    Mutation(
        name="a step is used once in a run",
        guarantee="G5",
        module="temperance.workflows.steps",
        guard="if explicit in self._taken:",
        off="if False:",
        killers=in_file(
            "guarantees/runs/test_steps.py",
            "g5_a_workflow_may_catch_a_repeated_step_and_go_on",
        ),
        long=True,
    ),
    Mutation(
        name="a key stays the same over a reset",
        guarantee="G5",
        module="temperance.workflows.invoker",
        guard="origin=info.original_execution_run_id,",
        off="origin=info.run_id,",
        killers=in_file(
            "guarantees/runs/test_g5_resets.py", "g5_a_reset_and_a_reset_of_it_keep_the_key"
        ),
        long=True,
    ),
    Mutation(
        name="a key stays the same over a workflow retry",
        guarantee="G5",
        module="temperance.activities.identity",
        guard="or ask.workflow_attempt > 1",
        off="",
        killers=in_file(
            "guarantees/runs/test_g5_keys.py",
            "g5_a_workflow_retry_keeps_the_key_of_the_first_attempt",
        ),
        long=True,
    ),
    Mutation(
        name="an attempt that reaches its worker late is not begun",
        guarantee="G7",
        module="temperance.activities.lease",
        guard="return late and await self._is_closed(carry)",
        off="return False",
        killers=in_file(
            "guarantees/retries/test_g7_zombie.py",
            "g7_a_write_that_reaches_its_worker_after_the_server_closed_it_is_not_begun",
        ),
        long=True,
    ),
    Mutation(
        name="an end that comes late is not recorded",
        guarantee="G7",
        module="temperance.activities.lease",
        guard="return self.late and await self._is_closed(carry)",
        off="return False",
        killers=in_file(
            "guarantees/retries/test_g7_zombie.py",
            "g7_a_handler_that_ends_in_time_after_its_heartbeats_were_missed_records_no_end",
        ),
        long=True,
    ),
    Mutation(
        name="an input over the limit is refused",
        guarantee="G8",
        module="temperance.workflows.raw_input",
        guard="if size <= limit:",
        off="if True:",
        killers=in_file(
            "guarantees/test_g8_inputs.py",
            "g8_an_input_too_large_to_be_carried_is_refused_before_it_is_scheduled",
        ),
        long=True,
        hangs=True,
    ),
    _consult(
        name="earlier runs are asked",
        guard="if not identity.rerun:",
        off="if True:",
        killers=_AFTER_RETRY,
    ),
    _consult(
        name="what completed is answered from the record",
        long=True,
        guard="return Recalled(reply)",
        off="return None",
        killers=_AFTER_RETRY,
    ),
    _consult(
        name="what may have begun is refused",
        guard='return _forbidden("RESET_FORBIDDEN", begun[0]) if begun else None',
        off="return None",
        killers=in_file(
            "guarantees/runs/test_g11_workflow_retry.py",
            "g11_a_write_that_still_ran_when_its_workflow_failed_is_not_begun_again",
        ),
    ),
    _consult(
        name="another request under the same step is refused",
        long=True,
        guard="if not _same(capability, entry, asked):",
        off="if False:",
        killers=in_file(
            "guarantees/runs/test_g11_other_requests.py",
            "g11_a_step_that_may_have_begun_for_another_input_is_a_mismatch",
        ),
    ),
    _consult(
        name="what cannot be read is refused",
        long=True,
        guard="return Forbidden(_unreadable(reason))",
        off="return None",
        killers=in_file(
            "guarantees/runs/test_g11_unreadable.py",
            "g11_a_write_is_refused_where_an_earlier_run_is_gone",
        ),
    ),
    Mutation(
        name="what the driver forbids is not run",
        guarantee="G11",
        module="temperance.runtime.attempt",
        guard="if call.forbidden is not None:",
        off="if False:",
        killers=in_file("runtime/test_guards.py", "g11_what_the_driver_forbids_is_not_run"),
    ),
    Mutation(
        name="step ids follow what is asked",
        guarantee="G6",
        module="temperance.runtime.identity",
        guard='return f"{capability_id}-{raw_hash[:8]}-{count}"',
        off='return f"{capability_id}-{random_id()[:8]}-{count}"',
        killers=in_file(
            "replay/test_replay.py",
            "g6_a_recorded_history_is_replayed_without_drift_handler_or_event",
        ),
    ),
)
