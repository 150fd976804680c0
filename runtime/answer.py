"""What the caller is told of an error, once it is known what it did to the world."""

from .error import CapabilityError, ErrorInfo
from .names import WRITE_LIKE, Effect, SideEffect


def answer_of(error: CapabilityError, effect: Effect, side_effect: SideEffect | None) -> ErrorInfo:
    """The public face of an error in a final answer.

    ``retryable`` invites the caller, often a model, to ask again. That would be a new execution
    with
    a new key, which no idempotence of the old one protects: so it is said only where nothing can
    have
    happened.

    Args:
        error: How the execution ended.
        effect: What is known of the world.
        side_effect: What the capability does; ``None`` where it is not known.

    Returns:
        The public face.
    """
    info = error.public()
    risky = effect != "none" and (side_effect is None or side_effect in WRITE_LIKE)
    return info.model_copy(update={"retryable": False}) if info.retryable and risky else info
