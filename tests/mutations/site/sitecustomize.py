"""Found by processes that a test with a mutation starts: they get the mutation too."""

from tests.mutations.switch import install

install()
