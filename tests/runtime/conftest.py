"""How the property tests of this folder run."""

from hypothesis import settings

# A busy machine is no defect: what is slow is told by pytest's own timeout.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
