"""What can go wrong with the embedded server, as the caller sees it.

```
EmbeddedServerError
├── ServerBinaryMissing   no `temporal` program is installed
├── ServerStartFailed     the server ended, or was not ready in time
└── StoreInUse            another server has the same store open
```

Every message is one line: what happened, where, and what to do. The last lines of the server's own
log travel beside it (`log_tail`, and as a note under a traceback).
"""

from collections.abc import Sequence


class EmbeddedServerError(Exception):
    """Any failure of the embedded server: the one to catch where the kind does not matter."""


class ServerBinaryMissing(EmbeddedServerError):
    """Raised when there is no `temporal` program, or the one that was named cannot be run."""


class ServerStartFailed(EmbeddedServerError):
    """Raised when the server ended before it was ready, was not ready in time, or cannot start.

    Attributes:
        log_tail: the last lines that the server wrote; empty when it was never run.
    """

    def __init__(self, message: str, log_tail: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log_tail = tuple(log_tail)
        if self.log_tail:
            self.add_note("\n".join(("the server's log ends with:", *self.log_tail)))


class StoreInUse(EmbeddedServerError):
    """Raised when another server has the store open.

    The server itself does not notice: two of them on one file both start, and both serve it.
    """
