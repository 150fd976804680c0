"""A module that needs one that is not there."""

import no_such_dependency  # type: ignore[import-not-found] # pyright: ignore[reportMissingImports] - that is the point

NAME = str(no_such_dependency)
