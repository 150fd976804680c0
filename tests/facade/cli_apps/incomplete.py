"""An application that forgot one of its capabilities, and serves what is no workflow."""

import incomplete_parts as parts  # type: ignore[import-not-found] # top level where it is run

from temperance import App, Governance


class NotAWorkflow:
    """Nothing decorates it."""


app = App(Governance([parts.known]), modules=[parts], workflows=[NotAWorkflow])
