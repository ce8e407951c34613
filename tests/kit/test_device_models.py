"""Models of the tests with regions on the fake device: equal results in both hosts. bench/measure_device_regions.py has all of them."""

import pytest
from common import TOLERANCE, model_path
from device_models import FLOAT32, PERCENTS, measure, weight_bytes


@pytest.mark.parametrize("percent", PERCENTS)
@pytest.mark.parametrize("name", ["lstm_tagger", "mobilenetv3_large_100", "llama_tiny"])
def test_results_are_equal(name, percent):
    path = model_path(name)
    rows, between, _ = measure(path, percent, delay_us=20)
    assert between <= TOLERANCE
    for row in rows.values():
        assert row["units"] > 0 and row["compilations"] == 0
        assert row["difference"] <= FLOAT32
        assert row["bytes"] <= 1.1 * weight_bytes(path)
    if percent == 100:
        assert len({row["units"] for row in rows.values()}) == 1
