"""The guards in front of a handler: who may ask, for what, with which input (G8, G9)."""

from functools import partial
from typing import Final

from tests.mutations.mutation import Mutation, in_file

_admission: Final = partial(Mutation, module="temperance.runtime.admission")
_policy: Final = partial(Mutation, module="temperance.runtime.policy")
_REFUSED: Final = in_file(
    "runtime/test_attempt_refusals.py",
    "g8_what_is_refused_never_enters_the_handler_and_ends_once",
)
_UNKNOWN: Final = in_file(
    "guarantees/test_g9_unknown.py",
    "g9_in_process_the_same_is_told_of_what_is_unknown_unexposed_and_hidden",
)
_HIDE: Final = (
    'if rules["discovery"]:\n'
    '        await _refuse_unlisted(app, call, capability, rules["discovery"])'
)
_VALIDATE: Final = "value = validate_input(capability, call.raw)"

ADMISSION: Final = (
    _admission(
        name="what is not exposed is refused",
        guarantee="G8",
        guard="if call.surface not in capability.expose:",
        off="if False:",
        killers=_REFUSED,
    ),
    _admission(
        name="an input is validated",
        guarantee="G8",
        guard='raise CapabilityError("INPUT_INVALID", details=problems)',
        off="return raw",
        killers=in_file(
            "guarantees/test_g8_inputs.py",
            "g8_in_process_an_invalid_input_gets_the_same_answer",
        ),
    ),
    _admission(
        name="nobody in particular is refused",
        guarantee="G8",
        guard="if call.actor is None:",
        off="if False:",
        killers=_REFUSED,
    ),
    _admission(
        name="execution policies are asked",
        guarantee="G8",
        guard="later = await _evaluated(app, request, execution)",
        off="later = None",
        killers=_REFUSED,
    ),
    _admission(
        name="policies cannot change the input",
        guarantee="G8",
        guard="if changed:",
        off="if False:",
        killers=in_file(
            "runtime/test_g8_tampering.py", "g8_a_policy_that_changes_the_input_denies"
        ),
    ),
    Mutation(
        name="what looks the same to a policy's author may have been changed",
        guarantee="G8",
        module="temperance.runtime.schema",
        guard="return trace is not None and self.to_json(value) == trace",
        off="return True",
        killers=in_file(
            "runtime/test_g8_tampering.py",
            "g8_no_change_of_a_value_or_of_its_type_passes_a_policy",
        ),
    ),
    _admission(
        name="an input that looks unchanged is one",
        guarantee="G8",
        guard="if schema.unchanged(request.input, trace):",
        off="if True:",
        killers=in_file(
            "runtime/test_g8_tampering.py", "g8_a_policy_that_changes_the_input_denies"
        ),
    ),
    _admission(
        name="an instance is judged by what it holds",
        guarantee="G8",
        guard="return schema.from_json(schema.to_json(raw) if schema.knows(raw) else json_of(raw))",
        off="return raw",
        killers=in_file(
            "guarantees/test_g8_inputs.py",
            "g8_an_instance_that_was_changed_without_validation_is_judged_by_what_it_holds",
        ),
    ),
    _policy(
        name="a policy that raises denies",
        guarantee="G8",
        guard="failure = failure or _failed(entry, error)",
        off="pass",
        killers=in_file(
            "runtime/test_policy.py", "g8_a_policy_that_raises_denies_and_its_text_stays_private"
        ),
    ),
    _policy(
        name="a policy that answers nonsense denies",
        guarantee="G8",
        guard="failure = failure or _failed(entry, None)",
        off="pass",
        killers=in_file("runtime/test_policy.py", "g8_anything_but_a_decision_denies"),
    ),
    _policy(
        name="a policy that answers too late denies",
        guarantee="G8",
        guard="if bound.expired():",
        off="if False:",
        killers=in_file(
            "runtime/test_policy.py",
            "g8_a_late_answer_of_a_policy_that_swallows_its_cancellation_does_not_count",
        ),
    ),
    _policy(
        name="a denial goes before any other answer",
        guarantee="G8",
        guard="if denial or failure:",
        off="if (denial or failure) and not (hidden or demands):",
        killers=in_file(
            "runtime/test_policy.py", "g8_the_strictest_answer_wins_whatever_the_order"
        ),
    ),
    _admission(
        name="what is not exposed looks unknown",
        guarantee="G9",
        guard='raise CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unexposed")',
        off='raise CapabilityError("CAPABILITY_NOT_FOUND", stage="exposure")',
        killers=_UNKNOWN,
    ),
    _admission(
        name="what discovery hides looks unknown whatever the input",
        guarantee="G9",
        guard=f"    {_HIDE}\n    {_VALIDATE}\n",
        off=f"    {_VALIDATE}\n    {_HIDE}\n",
        killers=in_file(
            "guarantees/test_g9_unknown.py", "g9_no_input_tells_what_is_hidden_from_what_is_unknown"
        ),
        long=True,
    ),
    _policy(
        name="what a policy hides looks unknown",
        guarantee="G9",
        guard='CapabilityError("CAPABILITY_NOT_FOUND", audit_reason=f"hidden:{hidden}")',
        off='CapabilityError("POLICY_DENIED", audit_reason=f"hidden:{hidden}")',
        killers=in_file(
            "runtime/test_policy.py",
            "g9_what_a_policy_hides_looks_unknown_and_the_audit_has_the_reason",
        ),
    ),
    Mutation(
        name="a listing leaves out what is hidden",
        guarantee="G9",
        module="temperance.runtime.describe",
        guard="if surface in entry.expose and scope.holds(entry)",
        off="if scope.holds(entry)",
        killers=in_file(
            "runtime/test_describe.py",
            "g9_an_id_that_is_unknown_unexposed_or_hidden_is_simply_not_listed",
        ),
    ),
)
