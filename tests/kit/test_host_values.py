"""Shapes, sizes, counts of trips and conditions that regions of a device take in host memory. In Roundhouse they stay there; ONNX Runtime
has them on the device, where the kit fetches all of a region behind one wait."""

import gc

import numpy as np
import onnx
import pytest
from fake_device import count, counted
from hosts import FAKE, HOSTS, floats, registered, session
from test_device import assert_same, model_of, plain

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
ALL = {"claim": "0:100", "bodies": "1", "delay_us": "300"}

STEERED = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x, int64[2] shape, int64[1] last) => (float[?, ?] y) <int64[1] one = {1}, int64[1] none = {0}>
{
  a = Tanh (x)
  b = Reshape (a, shape)
  end = Add (last, one)
  y = Slice (b, none, end)
}"""

#: The device says where the slice ends.
BORDER = """<ir_version: 8, opset_import: ["" : 17]>
main (float[8] x) => (float[?] y) <int64[1] one = {1}, int64[1] none = {0}>
{
  a = Tanh (x)
  place = ArgMax <axis = 0> (a)
  end = Add (place, one)
  y = Slice (a, none, end)
}"""

LOOP = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x, bool flag, int64 trips) => (float[N, 8] y) <bool yes = {1}>
{
  choice = If (flag) <then_branch = t () => (float[N, 8] t2) { t2 = Tanh (x) }, else_branch = e () => (float[N, 8] e2) { e2 = Exp (x) }>
  y = Loop (trips, yes, choice) <body = body (int64 i, bool go, float[N, 8] s) => (bool again, float[N, 8] next) {
    again = Identity (go)
    next = Sin (s)
  }>
}"""


def steered_feeds():
    return [{"x": floats(n, 8, seed=n), "shape": np.array([4, 2 * n]), "last": np.array([last])} for n, last in ((1, 1), (3, 2), (2, 0))]


def run(host, text, feeds, settings=ALL):
    """Counts of making the session, and of runs whose results are the CPU's."""
    model = model_of(text).SerializeToString()
    with registered(host, FAKE):
        with counted() as making:
            given = session(host, FAKE, model, settings)
        expected = plain(host, model)
        with counted() as running:
            assert_same(given, expected, feeds)
        del given
        gc.collect()
        assert count("bytes") == 0
    return making, running


@hosts
def test_shapes_and_sizes(host):
    feeds = steered_feeds()
    making, running = run(host, STEERED, feeds)
    assert making["compilations"] == 1
    copies = (running["copies_in"], running["copies_out"])
    assert copies == ((len(feeds), len(feeds)) if host is roundhouse else (3 * len(feeds), 3 * len(feeds)))


@hosts
def test_all_of_a_region_behind_one_wait(host):
    feeds = steered_feeds()
    _, one = run(host, STEERED.replace("Add (last, one)", "Add (one, one)"), feeds)
    _, two = run(host, STEERED, feeds)
    assert two["waits"] == one["waits"]


@hosts
def test_a_region_ends_where_the_device_computes_a_size(host):
    making, _ = run(host, BORDER, [{"x": floats(8, seed=n)} for n in range(4)])
    assert making["compilations"] == 2 and making["nodes"] == 4


@hosts
def test_trips_and_conditions(host):
    feeds = [{"x": floats(2, 8, seed=t), "flag": np.array(f), "trips": np.array(t)} for t, f in ((3, True), (1, False), (0, True))]
    making, running = run(host, LOOP, feeds)
    assert making["compilations"] == 1
    assert running["copies_in"] == (1 if host is roundhouse else 3) * len(feeds)


@hosts
def test_kernels_take_them_too(host):
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
main (float[2, 3] x, int64[2] repeats) => (float[?, ?] y) { [a] a = Tanh (x) [y] y = Tile (a, repeats) }""").SerializeToString()
    feeds = [{"x": floats(2, 3, seed=n), "repeats": np.array([n, 2])} for n in (1, 3)]
    with registered(host, FAKE):
        given = session(host, FAKE, model, {"delay_us": "300"})
        with counted() as done:
            assert_same(given, plain(host, model), feeds)
        del given
    assert done["copies_in"] == len(feeds) and done["runs"] == 2 * len(feeds)
