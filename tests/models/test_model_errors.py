"""Models of float32: how far they are off float64, beside ONNX Runtime, by the measure of bench/measure_error.py."""

import sys

import pytest
from common import BUILD

sys.path.append(str(BUILD.parent / "bench"))
from measure_error import measure  # noqa: E402

SEEDS = 16  # as docs/measurements.md has them


@pytest.mark.parametrize("name", ["efficientnet_b0", "lstm_tagger", "mobilenetv3_large_100"])
def test_error_is_no_larger_than_the_references(name):
    for output, error in measure(name, SEEDS).items():
        ours, reference = error["ours"], error["stock"]
        assert ours <= 1.05 * reference, f"{output}: root mean square of the error {ours:.4g}, the reference's is {reference:.4g}"
