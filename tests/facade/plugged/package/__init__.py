"""A package that declares a capability itself; one of its modules defines a workflow."""

from temperance import capability


@capability(
    "package.wrap", description="Wrap.", expose={"workflow"}, side_effect="none", risk="low"
)
def wrap(input: str) -> str:
    return f"({input})"
