"""A module that cannot be imported without its setting."""

import os

DATABASE = os.environ["SHOP_DATABASE_THAT_NOBODY_SET"]
