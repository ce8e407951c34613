"""The names of Roundhouse, for type checkers."""

from roundhouse import *
from roundhouse import __version__ as __version__
