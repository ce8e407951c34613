"""What a run may leave out, loops without a trip, bodies in bodies and functions, where a device takes nodes of them; in both hosts."""

import gc

import numpy as np
import onnx
import pytest
from hosts import FAKE, HOSTS, SAMPLE, floats, registered, session
from test_device import assert_same, model_of, name_nodes, plain

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)

DEFAULT = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 2] x, float[2, 2] w = {1, 2, 3, 4}) => (float[N, 2] y) { a = MatMul (x, w) b = Neg (a) y = MatMul (b, w) }"""

LOOP = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 4] x, int64 trips) => (float[N, 4] last, float[?, N, 4] all) <bool yes = {1}>
{
  last, all = Loop (trips, yes, x) <body = body (int64 i, bool go, float[N, 4] s) => (bool again, float[N, 4] next, float[N, 4] seen) {
    again = Identity (go)
    m = Tanh (s)
    next = Neg (m)
    seen = Relu (m)
  }>
}"""
NESTED = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 4] x, bool c, bool d) => (float[N, 4] y)
{
  a = Tanh (x)
  outer = If (c) <then_branch = then () => (float[N, 4] p) {
    q = Neg (a)
    p = If (d) <then_branch = deep () => (float[N, 4] u) { u = Add (q, a) }, else_branch = other () => (float[N, 4] v) { v = Sub (q, x) }>
  }, else_branch = not () => (float[N, 4] r) { r = Neg (x) }>
  y = Exp (outer)
}"""

FUNCTIONS = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
main (float[N, 4] x) => (float[N, 4] y) { a = local.f (x) b = local.f (a) y = Add (b, x) }
<domain: "local", opset_import: ["" : 17]> f (p) => (q) { r = Mul (p, p) s = Tanh (r) q = Add (s, p) }"""
CLAIMS = [{}, {"claim": "=m"}, {"claim": "=seen"}, {"claim": "=m,next,seen"}, {"claim": "0:100", "bodies": "1"}]


@hosts
@pytest.mark.parametrize(("provider", "settings"), [(FAKE, {"claim": "=a,y"}), (FAKE, {"claim": "0:100"}), (SAMPLE, {})], ids=str)
def test_an_initializer_that_is_an_input_as_well(host, provider, settings):
    model = onnx.parser.parse_model(DEFAULT)
    name_nodes(model.graph)
    data = model.SerializeToString()
    with registered(host, provider):
        given = session(host, provider, data, settings)
        x = floats(3, 2)
        assert_same(given, plain(host, data), [{"x": x}, {"x": x, "w": floats(2, 2, seed=1)}, {"x": x}])
        del given
        gc.collect()


@hosts
@pytest.mark.parametrize("size", ["N", "3"])
@pytest.mark.parametrize("settings", CLAIMS, ids=str)
def test_a_loop_without_a_trip(host, settings, size):
    data = model_of(LOOP.replace("N,", f"{size},")).SerializeToString()
    with registered(host, FAKE):
        given = session(host, FAKE, data, settings)
        for trips in (0, 2):
            feed = {"x": floats(3, 4), "trips": np.array(trips)}
            last, every = given.run(None, feed)
            expected = plain(host, data).run(None, feed)
            if host is roundhouse or size == "3":  # ONNX Runtime's CPU gives no size that has a name
                assert every.shape == (trips, 3, 4)
            np.testing.assert_allclose(last, expected[0], rtol=1e-5, atol=1e-6)
            assert every.dtype == np.float32 and np.allclose(every, expected[1], atol=1e-6)
        del given
        gc.collect()


@hosts
@pytest.mark.parametrize("names", ["outer,u,v,r", "outer,q,u,v", "a,p,u,v", "a,outer,p,q,u,v,r,y"])
def test_a_body_in_the_body_of_a_node_that_is_taken(host, names):
    data = model_of(NESTED).SerializeToString()
    feeds = [{"x": floats(n, 4, seed=n), "c": np.array(n != 3), "d": np.array(n == 1)} for n in (1, 2, 3)]
    with registered(host, FAKE):
        given = session(host, FAKE, data, {"claim": "=" + names, "bodies": "1"})
        assert_same(given, plain(host, data), feeds)
        if host is roundhouse and names == "outer,u,v,r":
            assert {row["node"] for row in given.placement() if row["provider"] == FAKE} >= {"outer"}
        del given
        gc.collect()


@hosts
@pytest.mark.parametrize("optimize", [False, True], ids=["plain", "optimized"])
def test_functions_of_a_model(host, optimize):
    data = onnx.parser.parse_model(FUNCTIONS).SerializeToString()
    with registered(host, FAKE):
        given = session(host, FAKE, data, {"claim": "0:100"}, optimize)
        assert_same(given, plain(host, data), [{"x": floats(3, 4)}])
        del given
        gc.collect()


#: A loop whose body branches: of no iteration a result has the size of the run's input.
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x, int64 n, bool flag) => (float[N, 8] y, float[K, N, 8] o) <bool yes = {1}>
{
  y, o = Loop (n, yes, x) <body = b (int64 i, bool go, float[N, 8] s) => (bool g2, float[N, 8] nx, float[N, 8] seen) {
    g2 = Identity (go)
    nn = If (flag) <then_branch = t () => (float[N, 8] o1) { p1 = Abs (s) q1 = Exp (p1) o1 = Neg (q1) },
                    else_branch = e () => (float[N, 8] o2) { o2 = Neg (s) }>
    nx = Add (nn, s)
    seen = Tanh (nx)
  }>
}"""


@pytest.mark.parametrize("claim", ["=o1", "=q1", "=p1,q1", "=o1,o2", "=nx"])
def test_no_iteration_gives_the_sizes_of_the_run_where_a_branch_is_on_the_device(claim):
    parsed = onnx.parser.parse_model(BRANCHES)
    name_nodes(parsed.graph)
    with registered(roundhouse, FAKE):
        made = session(roundhouse, FAKE, parsed.SerializeToString(), {"claim": claim})
        for rows in (3, 5):
            for trips in (0, 1, 0):
                y, o = made.run(None, {"x": np.ones((rows, 8), "f4"), "n": np.array(trips), "flag": np.array(True)})
                assert (y.shape, o.shape) == ((rows, 8), (trips, rows, 8))
