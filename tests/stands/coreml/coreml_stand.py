"""The library that stands in for Core ML (recording_coreml.cc), and the program by which it evaluates packages."""

import pathlib
import sys

from hosts import LIBRARIES

STAND_IN = LIBRARIES / "librecording_coreml.so"
EVALUATOR = f"{sys.executable} {pathlib.Path(__file__).resolve().with_name('evaluate.py')} numpy"
