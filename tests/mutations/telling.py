"""The guards of what an attempt tells: to audit, callers, approvers and log (G4, G10)."""

from functools import partial
from typing import Final

from tests.mutations.mutation import Mutation, in_file

_attempt: Final = partial(Mutation, module="temperance.runtime.attempt")
_SHOWN: Final = in_file(
    "security/test_secrets_are_not_shown.py",
    "g10_no_text_of_an_object_shows_what_may_be_a_secret",
)

TELLING: Final = (
    Mutation(
        name="strict audit enters nothing unrecorded",
        guarantee="G4",
        module="temperance.runtime.trail",
        guard="and self._app.strict_audit",
        off="and False",
        killers=in_file(
            "runtime/test_trail_sinks.py",
            "g4_in_strict_audit_nothing_is_entered_that_was_not_recorded",
        ),
    ),
    _attempt(
        name="a retried attempt names the code before",
        guarantee="G4",
        guard='call.earlier_errors[-1] if call.earlier_errors else "UNKNOWN"',
        off='"UNKNOWN"',
        killers=in_file(
            "runtime/test_trail.py",
            "g4_a_retried_attempt_names_the_code_that_ended_the_one_before",
        ),
    ),
    Mutation(
        name="the text of an exception is concealed",
        guarantee="G10",
        module="temperance.runtime.raised",
        guard='CapabilityError("EXECUTION_FAILED", cause=raised, retry_after=after)',
        off='CapabilityError("EXECUTION_FAILED", str(raised), cause=raised, retry_after=after)',
        killers=in_file("runtime/test_guards.py", "g10_the_text_of_an_exception_is_told_to_nobody"),
    ),
    Mutation(
        name="an error that is not exposed is concealed",
        guarantee="G10",
        module="temperance.runtime.error",
        guard="if self.expose:",
        off="if True:",
        killers=in_file(
            "runtime/test_error.py", "g10_what_is_not_exposed_is_concealed_byte_for_byte"
        ),
    ),
    _attempt(
        name="the log names the kind of an exception only",
        guarantee="G10",
        guard="type(cause).__name__,",
        off="cause,",
        killers=in_file("runtime/test_guards.py", "g10_the_text_of_an_exception_is_told_to_nobody"),
    ),
    _attempt(
        name="the output is redacted",
        guarantee="G10",
        guard="if rule is not None:",
        off="if False:",
        killers=in_file("runtime/test_guards.py", "g10_what_is_redacted_is_in_no_outcome"),
    ),
    Mutation(
        name="approvers are shown a redacted input",
        guarantee="G10",
        module="temperance.runtime.redaction",
        guard="shown = _without(rule or (),",
        off="shown = _without((),",
        killers=in_file(
            "runtime/test_redaction.py", "g10_approvers_do_not_see_what_paths_leave_out"
        ),
    ),
    Mutation(
        name="a redaction with a fault closes",
        guarantee="G10",
        module="temperance.runtime.redaction",
        guard="        _close(error)\n    return data",
        off="        data = schema.to_json(value)\n    return data",
        killers=in_file(
            "runtime/test_redaction.py",
            "g10_whatever_goes_wrong_in_a_function_closes_and_says_nothing",
        ),
    ),
    Mutation(
        name="the text of a request has no input",
        guarantee="G10",
        module="temperance.runtime.request",
        guard="input: I = field(repr=False)",
        off="input: I",
        killers=_SHOWN,
    ),
    Mutation(
        name="the text of a connection has no credentials",
        guarantee="G10",
        module="temperance.connection_settings",
        guard="api_key: str | None = field(repr=False)",
        off="api_key: str | None",
        killers=_SHOWN,
    ),
    Mutation(
        name="a model does not repeat what it refuses",
        guarantee="G10",
        module="temperance.runtime.unseen",
        guard=", hide_input_in_errors=True",
        off="",
        killers=in_file(
            "security/test_secrets_are_not_shown.py",
            "g10_what_a_model_refuses_it_does_not_repeat",
        ),
    ),
)
