"""A workflow that logs in every way that people log, before and after it waits."""

import logging
from datetime import timedelta

import structlog
from temporalio import workflow


@workflow.defn
class Talkative:
    """Each line is written once, however often its history is replayed."""

    @workflow.run
    async def run(self) -> None:
        """Says it all."""
        for part in ("first", "second"):
            workflow.logger.info("%s by the workflow's logger", part)
            structlog.get_logger("shop").info(f"{part} by structlog")
            logging.getLogger("shop").info("%s by logging", part)
            await workflow.sleep(timedelta(milliseconds=1))
