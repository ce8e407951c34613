"""Models that `roundhouse convert` brought to float16: they run here and in ONNX Runtime, near those of float32, and nothing overflows."""

import pytest
from common import MODELS
from converted import BOUNDS, errors


@pytest.mark.parametrize("name", MODELS)
def test_float16_model_is_near_float32(name, tmp_path):
    report, overflowing, found = errors(name, tmp_path)
    assert report["converted"] or name.endswith(("_fp16", "_qdq"))
    assert not overflowing
    for way, error in found.items():
        assert error <= BOUNDS[name], f"{way}: off by {error:.2g} of the largest magnitude, expected at most {BOUNDS[name]}"
