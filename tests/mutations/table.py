"""All guards that are switched off, each in turn."""

from typing import Final

from tests.mutations.admission import ADMISSION
from tests.mutations.approvals import APPROVALS
from tests.mutations.attempts import ATTEMPTS
from tests.mutations.mutation import Mutation
from tests.mutations.runs import RUNS
from tests.mutations.settling import SETTLING
from tests.mutations.telling import TELLING

MUTATIONS: Final[tuple[Mutation, ...]] = (
    *ATTEMPTS,
    *ADMISSION,
    *APPROVALS,
    *RUNS,
    *SETTLING,
    *TELLING,
)
