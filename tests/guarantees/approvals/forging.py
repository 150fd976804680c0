"""Workflows and activities of others that claim to have been approved."""

from datetime import timedelta

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, RetryPolicy

from tests.guarantees.approvals.payments import Payment


def raw(data: bytes) -> RawValue:
    """JSON as it travels."""
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=data))


@workflow.defn
class Forging:
    """Schedules a capability's activity by hand, with a request context made up."""

    @workflow.run
    async def run(self, payment: Payment, context: str, step: str) -> str:
        value: RawValue = await workflow.execute_activity(
            "pay.transfer",
            args=[raw(payment.model_dump_json().encode()), raw(context.encode())],
            activity_id=step,
            result_type=RawValue,
            start_to_close_timeout=timedelta(seconds=5),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
        return value.payload.data.decode()
