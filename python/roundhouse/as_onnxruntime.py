"""``python -m roundhouse.as_onnxruntime [-m MODULE | SCRIPT] ARGS...`` runs a program in which ``import onnxruntime`` gives Roundhouse."""

import runpy
import sys

from roundhouse import install_as_onnxruntime


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments == ["-m"]:
        print(__doc__, file=sys.stderr)
        return 2
    install_as_onnxruntime()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
