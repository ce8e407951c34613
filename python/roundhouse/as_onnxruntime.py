"""``python -m roundhouse.as_onnxruntime`` takes what ``python`` takes.

In the program and its children, ``import onnxruntime`` gives Roundhouse. Children that are started with ``-I`` or ``-E``, or without the
variable PYTHONPATH, are not reached: the program gets a RuntimeWarning of those that it starts, itself or by the command line of a shell,
``env`` or ``sudo``.
"""

import os
import subprocess
import sys

from roundhouse.shim import roundhouse_children as children

_MODULE = "roundhouse.as_onnxruntime"


def _options_of_this_interpreter() -> list[str]:
    """Those that stand before the launcher in the command line."""
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    if not before or not before[-1].endswith(_MODULE):
        return subprocess._args_from_interpreter_flags()  # the launcher was not started by -m
    options = before[:-1] if before[-1] == _MODULE else [*before[:-1], before[-1].removesuffix(_MODULE)]
    options[-1] = options[-1].removesuffix("m")
    return options if options[-1] != "-" else options[:-1]


def main() -> None:
    """Replaces this process by the interpreter, on whose path of modules the package with the name onnxruntime stands first."""
    command = children.with_last_option_apart([*_options_of_this_interpreter(), *sys.argv[1:]])
    count, letters = children.options(command)
    if children.ignores_environment(letters):
        command = [*command[:count], os.path.join(children.FOLDER, "isolated"), *command[count:]]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is where its descriptor is closed
            stream.flush()
    os.execve(sys.executable, [sys.executable, *command], children.environment(os.environ))


if __name__ == "__main__":
    main()
