"""A module that ends the program."""

import sys

sys.exit("the licence has expired")
