"""The command `roundhouse`, as the package has it."""

import os
import pathlib
import sys


def binary() -> str:
    """In the installed package, or in the build tree that this package lies in."""
    package = pathlib.Path(__file__).parent
    for path in (package / "bin/roundhouse", package.parents[1] / "bin/roundhouse"):
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"the command roundhouse is not in {package / 'bin'}: the package was built without it")


def main():
    os.execv(binary(), ["roundhouse", *sys.argv[1:]])
