"""Whether the server still takes the result of an attempt (G1, G7, DESIGN section 8).

A process that was suspended does not know it. Meanwhile the server has closed its attempt and told
the workflow, or another worker has made the next one: a handler that is entered after that
surprises everybody, and an end that is recorded after that is a second one. So an attempt that
finds itself late asks the server: before anything else, and again before it records its end. Late
is what the clocks say. Where worker and server disagree about the time, an attempt asks in vain,
which costs it one call.
"""

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.api.workflowservice.v1 import RecordActivityTaskHeartbeatRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from ..runtime.messages import Carry

_log = logging.getLogger("temperance.activity")


class Lease:
    """The time that the server has given to an attempt.

    Args:
        info: The activity's own info.
        client: The worker's client.
    """

    __slots__ = (
        "_beaten",
        "_began",
        "_client",
        "_info",
        "_loop",
        "_overdue",
        "_timeout",
        "heartbeat_timeout",
    )

    def __init__(self, info: activity.Info, client: Client) -> None:
        self._info = info
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._began = self._beaten = self._loop.time()
        self._timeout = _seconds(info.start_to_close_timeout)
        self.heartbeat_timeout = _seconds(info.heartbeat_timeout)
        self._overdue = False

    async def arrived_late(self, carry: Carry) -> bool:
        """Whether the attempt was closed before it reached this worker.

        Args:
            carry: What the attempts before told; asking renews it.
        """
        waited = (datetime.now(UTC) - self._info.started_time).total_seconds()
        late = waited >= self._timeout or waited >= self.heartbeat_timeout
        return late and await self._is_closed(carry)

    @property
    def spent(self) -> timedelta:
        """How long this attempt has been with this worker."""
        return timedelta(seconds=self._loop.time() - self._began)

    def beat(self) -> None:
        """Notes a heartbeat. One that comes too late does not make good for its being late."""
        now = self._loop.time()
        self._overdue = self._overdue or now - self._beaten >= self.heartbeat_timeout
        self._beaten = now

    @property
    def late(self) -> bool:
        """Whether the attempt may have been closed while it ran, by the clock of this worker."""
        now = self._loop.time()
        return (
            self._overdue
            or now - self._beaten >= self.heartbeat_timeout
            or now - self._began >= self._timeout
        )

    async def lost(self, carry: Carry) -> bool:
        """Whether the attempt was closed while it ran.

        Args:
            carry: What the next attempt is to know; asking tells it.
        """
        return self.late and await self._is_closed(carry)

    async def _is_closed(self, carry: Carry) -> bool:
        """Asks the server. Where it cannot be asked, the attempt goes on as if it were not late."""
        details = await self._client.data_converter.encode_wrapper([carry.details()])
        try:
            await self._client.workflow_service.record_activity_task_heartbeat(
                RecordActivityTaskHeartbeatRequest(
                    task_token=self._info.task_token,
                    details=details,
                    identity=self._client.identity,
                    namespace=self._client.namespace,
                ),
                retry=True,
            )
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return True
            _log.warning("a late attempt could not ask for its state (%s)", error.status.name)
        return False


def _seconds(given: timedelta | None) -> float:
    return given.total_seconds() if given else float("inf")
