"""A workflow that logs through structlog, whose code the sandbox would not let be executed."""

import structlog
from temporalio import workflow


@workflow.defn
class Chatter:
    """Logs a line."""

    @workflow.run
    async def run(self, line: str) -> None:
        structlog.get_logger().info(line)
