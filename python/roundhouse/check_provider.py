"""Checks a provider's library: ``python -m roundhouse.check_provider LIBRARY`` is ``roundhouse check-provider LIBRARY --onnx``.

The official ONNX cases run where the package onnx is installed.
"""

import importlib.util
import subprocess
import sys

from roundhouse._command import binary


def main(arguments=None) -> int:
    command = [binary(), "check-provider", *(sys.argv[1:] if arguments is None else arguments)]
    if importlib.util.find_spec("onnx"):
        command += ["--onnx", "--python", sys.executable]
    else:
        print("The official ONNX cases are left out: the package onnx is not installed.", file=sys.stderr)
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
