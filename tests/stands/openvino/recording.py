"""The stand-in of OpenVINO's C library, which writes down what reaches it (recording_openvino.cc)."""

from hosts import LIBRARIES

STAND_IN = LIBRARIES / "librecording_openvino.so"
