"""What travels between workflow and activity, as bytes of JSON (DESIGN sections 6 and 12).

The two middle rooms do not import each other: they meet here. History is paid for by the byte, so
what is usual is left out: a first attempt names no attempts, a first request names no repeat.

    input     the capability's input, as it was given
    Ask       "agent AaIvx7dSc-G1hhMlpWX-dA user:ada": surface, original run id, actor
    reply     {"output": ...} or {"approval": {...}}, led by attempts, errors and id where needed
    Ending    the details of a failure: {"effect": "possible", "stage": "handler", ...}
    Carry     heartbeat details: what one attempt tells the next
    Settlement   {"verdict": "happened", "output": ...}: what became of a write
"""

from .ask import Ask
from .carry import Carry
from .ending import Ending
from .reply import Reply
from .settlement import Settlement
from .unseen import UNSEEN, Unseen

__all__ = ["UNSEEN", "Ask", "Carry", "Ending", "Reply", "Settlement", "Unseen"]
