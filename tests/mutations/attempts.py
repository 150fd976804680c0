"""The guards of one attempt: its limits, its keys, its time, its end (G1, G2, G5, G7)."""

from functools import partial
from typing import Final

from tests.mutations.mutation import Mutation, in_file

_attempt: Final = partial(Mutation, module="temperance.runtime.attempt")
_handling: Final = partial(Mutation, module="temperance.runtime.handling")

ATTEMPTS: Final = (
    _attempt(
        name="an attempt that was given up records no end",
        guarantee="G1",
        guard='if not retries and interruption != "lost":',
        off="if not retries:",
        killers=in_file(
            "runtime/test_attempt_lost.py", "g1_an_attempt_that_was_given_up_records_no_end"
        ),
    ),
    Mutation(
        name="attempts follow from metadata",
        guarantee="G2",
        module="temperance.runtime.retry",
        guard="if retry is None or (side_effect in WRITE_LIKE and not idempotent):",
        off="if retry is None:",
        killers=in_file(
            "runtime/test_retry.py",
            "g2_only_what_is_safe_to_repeat_and_asks_for_it_has_more_than_one_attempt",
        ),
    ),
    Mutation(
        name="a registry takes no retry of a write",
        guarantee="G2",
        module="temperance.runtime.metadata",
        guard="in WRITE_LIKE and capability.idempotent is not True",
        off="in ()",
        killers=in_file(
            "runtime/test_registry.py", "g2_retry_of_a_write_needs_the_claim_of_idempotence"
        ),
    ),
    _attempt(
        name="an attempt over the limit is refused",
        guarantee="G2",
        guard="call.attempt > maximum",
        off="False",
        killers=in_file(
            "runtime/test_guards.py",
            "g2_what_metadata_does_not_allow_is_refused_whoever_scheduled_it",
        ),
    ),
    _attempt(
        name="a write that was entered before is refused",
        guarantee="G2",
        guard="call.entered_before and",
        off="False and",
        killers=in_file(
            "runtime/test_guards.py",
            "g2_what_metadata_does_not_allow_is_refused_whoever_scheduled_it",
        ),
    ),
    _attempt(
        name="what is done is not tried again",
        guarantee="G2",
        guard='and effect != "done"',
        off="",
        killers=in_file("runtime/test_guards.py", "g2_what_is_done_is_never_tried_again"),
    ),
    _attempt(
        name="an output over the limit is refused",
        guarantee="G2",
        guard="len(data) > call.output_limit",
        off="False",
        killers=in_file(
            "runtime/test_attempt_ends.py",
            "g2_whatever_is_wrong_with_an_output_never_causes_another_attempt",
        ),
    ),
    _attempt(
        name="an output is validated",
        guarantee="G2",
        guard="value = schema.read(data)\n        if not can_travel",
        off="value = output\n        if not can_travel",
        killers=in_file(
            "runtime/test_attempt_ends.py",
            "g2_whatever_is_wrong_with_an_output_never_causes_another_attempt",
        ),
    ),
    Mutation(
        name="middleware runs the handler once",
        guarantee="G2",
        module="temperance.runtime.middleware",
        guard="if entered:",
        off="if False:",
        killers=in_file(
            "runtime/test_middleware.py", "g2_a_middleware_that_calls_the_handler_twice_is_stopped"
        ),
    ),
    _handling(
        name="middleware enters nothing after the end",
        guarantee="G2",
        guard="if self._closed:",
        off="if False:",
        killers=in_file(
            "runtime/test_g8_tampering.py",
            "g2_middleware_that_proceeds_after_its_attempt_had_ended_enters_nothing",
        ),
    ),
    Mutation(
        name="the same execution has the same key",
        guarantee="G5",
        module="temperance.runtime.identity",
        guard="return _uuid5(KEY_NAMESPACE, execution_id.encode())",
        off="return random_id()",
        killers=in_file(
            "runtime/test_identity.py",
            "g5_the_key_is_a_version_5_uuid_of_36_characters_made_of_the_execution_id",
        ),
    ),
    Mutation(
        name="the key is of one namespace, workflow, run and step",
        guarantee="G5",
        module="temperance.runtime.identity",
        guard="canonical_json([namespace, workflow_id, original_run_id])",
        off="canonical_json([namespace, workflow_id])",
        killers=in_file(
            "runtime/test_identity.py",
            "g5_any_part_that_differs_makes_another_execution",
        ),
    ),
    _handling(
        name="the attempt ends its handler in time",
        guarantee="G7",
        guard="self._alarms.set(self, end)",
        off="self._alarms.set(self, end + 3600)",
        killers=in_file(
            "runtime/test_handling.py",
            "g7_an_async_handler_that_outlasts_its_timeout_is_told_and_times_out",
        ),
        hangs=True,
    ),
    _handling(
        name="a late output is dropped",
        guarantee="G7",
        guard="late = self._strikes > 0 or clock() >= end",
        off="late = False",
        killers=in_file(
            "runtime/test_handling.py",
            "g7_a_handler_that_blocks_the_loop_past_its_deadline_is_late",
            "g7_a_handler_that_swallows_its_timeout_times_out_all_the_same",
        ),
    ),
    _handling(
        name="no handler is entered late",
        guarantee="G7",
        guard="if self._told_to_stop() or self._watch.loop.time() >= self._end:",
        off="if False:",
        killers=in_file(
            "runtime/test_handling.py",
            "g7_middleware_that_swallows_a_timeout_does_not_enter_the_handler_after",
        ),
    ),
    _handling(
        name="a cancelled handler is cancelled",
        guarantee="G7",
        guard="if self._watch.interrupted:",
        off="if False:",
        killers=in_file(
            "runtime/test_handling_cancellation.py",
            "g7_a_cancelled_handler_is_cancelled_whatever_it_does_about_it",
        ),
    ),
    Mutation(
        name="what writes is not placed locally",
        guarantee="G2",
        module="temperance.runtime.placement",
        guard="if str(capability.side_effect) in WRITE_LIKE:",
        off="if False:",
        killers=in_file("runtime/test_placement.py", "g2_only_what_writes_nothing_may_be_local"),
    ),
    Mutation(
        name="a declared error is not run again",
        guarantee="G2",
        module="temperance.runtime.reconcile",
        guard="error.reason is None and",
        off="",
        killers=in_file(
            "runtime/test_reconcile.py",
            "g2_a_declared_error_is_an_answer_and_the_second_series_is_the_last",
        ),
    ),
    Mutation(
        name="an unsettled write is run again once at most",
        guarantee="G2",
        module="temperance.runtime.reconcile",
        guard="and series < MOST_SERIES",
        off="",
        killers=in_file(
            "runtime/test_reconcile.py",
            "g2_a_declared_error_is_an_answer_and_the_second_series_is_the_last",
        ),
    ),
    Mutation(
        name="an answer is of the input that was recorded",
        guarantee="G2",
        module="temperance.runtime.reconcile",
        guard='and envelope.error.code != "STEP_INPUT_MISMATCH"',
        off="",
        killers=in_file(
            "runtime/test_reconcile.py",
            "g2_neither_a_cancelled_write_nor_one_of_another_input_is_asked_about",
        ),
    ),
)
