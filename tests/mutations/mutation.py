"""A guard, and how to switch it off.

A mutation replaces one expression of the library's source, so it names exactly the guard that it is
about. Where the expression is not there any more, or there twice, nothing is switched off and
everything fails: whoever moves a guard moves its mutation.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_ROOMS = {"workflows", "activities", "runtime"}


def in_file(file: str, *names: str) -> tuple[str, ...]:
    """Node ids of tests.

    Args:
        file: From the folder of the tests.
        names: What stands behind ``test_``.
    """
    return tuple(f"tests/{file}::test_{name}" for name in names)


class GuardMoved(Exception):
    """Raised where a mutation does not find the guard that it is to switch off."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A guard that is switched off.

    Args:
        name: What is off, in words.
        guarantee: Whose guard it is, such as ``G2``.
        module: Where it stands.
        guard: Its source, there once.
        off: What stands in its place.
        killers: Tests of that guarantee, at least one of which must fail: node ids of pytest.
        long: Whether they take seconds, as with a server they do: `make mutations` runs these too.
        hangs: Whether a test without the guard may wait for ever: being stopped is failing then.
    """

    name: str
    guarantee: str
    module: str
    guard: str
    off: str
    killers: tuple[str, ...]
    long: bool = False
    hangs: bool = False

    @property
    def path(self) -> Path:
        """The file of the module, from the root of the project."""
        _, *parts = self.module.split(".")
        folder = parts if parts[0] in _ROOMS else ["facade", *parts]
        return Path(*folder).with_suffix(".py")

    def to_json(self) -> str:
        """As it goes to other processes."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Mutation":
        """Reads what `to_json` wrote."""
        given = json.loads(text)
        return cls(**given | {"killers": tuple(given["killers"])})

    def applied_to(self, source: str) -> str:
        """The source without the guard.

        Raises:
            GuardMoved: The guard is not there, or more than once.
        """
        found = source.count(self.guard)
        if found != 1:
            raise GuardMoved(
                f"{self.name}: {self.path} has {self.guard!r} {found} times, not once; "
                "find where the guard is now, and say so in tests/mutations"
            )
        return source.replace(self.guard, self.off)
