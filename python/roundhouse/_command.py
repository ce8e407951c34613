"""The command `roundhouse`, as the package has it."""

import os
import pathlib
import subprocess
import sys


def binary() -> str:
    """In the installed package, or in the build tree that this package lies in. On Windows it is beside its library."""
    package = pathlib.Path(__file__).parent
    for path in (package / "bin/roundhouse", package.parents[1] / "bin/roundhouse", package / "roundhouse.exe"):
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"the command roundhouse is not in {package / 'bin'}: the package was built without it")


def main():
    if os.name == "nt":  # execv would leave the caller to go on
        sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
    os.execv(binary(), ["roundhouse", *sys.argv[1:]])
