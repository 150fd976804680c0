"""The guards of what became of a write: who is asked, what it makes of it, what runs again."""

from functools import partial
from typing import Final

from tests.mutations.mutation import Mutation, in_file

_rule: Final = partial(Mutation, module="temperance.runtime.reconcile")
_RULES: Final = "runtime/test_reconcile.py"
_ASKED: Final = "runtime/test_reconciling.py"
_SETTLED: Final = "guarantees/reconcile/test_settling.py"
_DOORS: Final = "guarantees/reconcile/test_doors.py"
_RESETS: Final = "guarantees/reconcile/test_resets.py"

SETTLING: Final = (
    _rule(
        name="only a write whose effect is possible is asked about",
        guarantee="G1",
        guard='and envelope.effect == "possible"',
        off="",
        killers=in_file(
            _RULES, "g1_whatever_the_end_and_the_answer_the_envelope_says_what_is_known"
        ),
    ),
    _rule(
        name="a write of another input is not asked about",
        guarantee="G2",
        guard='and envelope.error.code != "STEP_INPUT_MISMATCH"',
        off="",
        killers=in_file(
            _RULES, "g2_neither_a_cancelled_write_nor_one_of_another_input_is_asked_about"
        ),
    ),
    _rule(
        name="what did not happen is run again by itself once, and not after a declared error",
        guarantee="G2",
        guard="return error.reason is None and series < MOST_SERIES",
        off="return error.reason is None",
        killers=in_file(
            _RULES, "g2_a_declared_error_is_an_answer_and_the_second_series_is_the_last"
        ),
    ),
    Mutation(
        name="a question is given the timeout of its own",
        guarantee="G7",
        module="temperance.runtime.reconciling",
        guard="handler=reconcile.function, timeout=reconcile.timeout",
        off="handler=reconcile.function",
        killers=in_file(_ASKED, "g7_an_answer_that_comes_too_late_is_none"),
        hangs=True,
    ),
    Mutation(
        name="a question is no execution to middleware",
        guarantee="G2",
        module="temperance.runtime.reconciling",
        guard="return self._enter()",
        off="return super()._proceed(made, deadline)",
        killers=in_file(_ASKED, "g2_middleware_does_not_take_the_question_for_an_execution"),
    ),
    Mutation(
        name="a further series has attempts of its own, and no more",
        guarantee="G2",
        module="temperance.runtime.attempt",
        guard="maximum = call.earlier_series + capability.plan.maximum_attempts",
        off="maximum = capability.plan.maximum_attempts",
        killers=in_file(_SETTLED, "g2_each_series_of_an_idempotent_write_has_its_own_attempts"),
        long=True,
    ),
    Mutation(
        name="a further series has the key of its execution",
        guarantee="G5",
        module="temperance.activities.governed",
        guard="(None, None) if series is None else (series.step, series.run_id)",
        off="(None, None)",
        killers=in_file(_SETTLED, "g5_a_write_that_did_not_happen_is_run_once_more_under_its_key"),
        long=True,
    ),
    Mutation(
        name="the server vouches for the request that is continued",
        guarantee="G5",
        module="temperance.activities.series",
        guard="return series if vouched else CapabilityError",
        off="return series if vouched or not vouched else CapabilityError",
        killers=in_file(_DOORS, "g5_no_request_is_given_the_key_of_one_that_it_does_not_continue"),
        long=True,
    ),
    Mutation(
        name="nobody gives a step the name of a series",
        guarantee="G5",
        module="temperance.workflows.steps",
        guard="if is_own_step(explicit):",
        off="if False:",
        killers=in_file(_DOORS, "g5_nobody_can_give_a_step_the_name_of_a_series"),
        long=True,
    ),
    Mutation(
        name="a reset looks each series up under its own id",
        guarantee="G11",
        module="temperance.activities.consult",
        guard="runs.records_of(info.activity_id)",
        off='runs.records_of(info.activity_id.partition(":")[0])',
        killers=in_file(_RESETS, "g11_a_reset_into_the_second_series_does_not_begin_it_again"),
        long=True,
    ),
    Mutation(
        name="attempts are counted over all series",
        guarantee="G4",
        module="temperance.workflows.reading",
        guard="return series.attempts + attempts, (*series.errors, *errors)",
        off="return attempts, errors",
        killers=in_file(
            "activities/test_failures_read.py",
            "g4_an_end_that_no_worker_told_counts_the_series_before",
        ),
    ),
    Mutation(
        name="a question that no worker could answer is recorded",
        guarantee="G4",
        module="temperance.workflows.settling",
        guard="if not is_recorded(failure.cause):",
        off="if False:",
        killers=in_file(_SETTLED, "g4_a_question_that_no_worker_could_answer_is_on_record"),
        long=True,
    ),
    Mutation(
        name="nobody else runs again what did not happen",
        guarantee="G5",
        module="temperance.workflows.invoker",
        guard="!= (self._actor, self._surface)",
        off="== ()",
        killers=in_file(_SETTLED, "g5_nobody_else_runs_again_what_did_not_happen"),
        long=True,
    ),
    Mutation(
        name="a run keeps to whether it asked",
        guarantee="G6",
        module="temperance.workflows.settling",
        guard="known = run.asking[patch] = wanted and workflow.patched(patch)",
        off="known = run.asking[patch] = declared",
        killers=in_file(
            "guarantees/reconcile/test_deploys.py", "g6_a_run_keeps_to_whether_it_asked"
        ),
        long=True,
        hangs=True,
    ),
)
