"""The stand-in of MIGraphX's C library, which writes down what reaches it (recording_migraphx.cc)."""

from hosts import LIBRARIES

STAND_IN = LIBRARIES / "librecording_migraphx.so"
