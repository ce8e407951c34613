"""Islands of a device between nodes of the CPU: a small one is left to those, with the reason; a large one is taken."""

import gc

import numpy as np
import pytest
from fake_device import counted
from hosts import FAKE, HOSTS, floats, registered, session
from test_device import model_of, plain

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
main (float[256, 512] x) => (float[256, 512] y, float[8] z)
<float[512, 512] w, int64[2] from = {0, 0}, int64[2] to = {1, 8}, int64[1] first = {0}>
{
  a = Neg (x)
  large = MatMul (a, w)
  y = Neg (large)
  b = Slice (x, from, to)
  c = Squeeze (b, first)
  small = Tanh (c)
  z = Neg (small)
}"""


@hosts
@pytest.mark.parametrize("islands", ["0", "1"])
def test_a_small_one_is_left(host, islands):
    data = model_of(MODEL).SerializeToString()
    with registered(host, FAKE):
        with counted() as done:
            given = session(host, FAKE, data, {"claim": "=large,small", "islands": islands})
        assert done["compilations"] == (2 if islands == "1" else 1)
        feed = {"x": floats(256, 512)}
        for actual, expected in zip(given.run(None, feed), plain(host, data).run(None, feed), strict=True):
            np.testing.assert_allclose(actual, expected, atol=1e-4)  # sums of 512 products in another order
        if host is roundhouse and islands == "0":
            rows = {row["node"]: row for row in given.placement()}
            assert rows["large"]["provider"] == FAKE and rows["small"]["provider"] == "CPUExecutionProvider"
            refusal = rows["small"]["refusals"][0]
            assert refusal["code"] == "cost" and "for 2 copies" in refusal["reason"], refusal
        del given
        gc.collect()
