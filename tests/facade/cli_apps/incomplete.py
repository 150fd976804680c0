"""An application that forgot one of its capabilities, and serves what is no workflow."""

import incomplete_parts as parts

from temperance import App, Governance


class NotAWorkflow:
    """Nothing decorates it."""


app = App(Governance([parts.known]), modules=[parts], workflows=[NotAWorkflow])
