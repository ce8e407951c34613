"""The sample with a program for each class of sizes (option plan_classes), in both hosts."""

import numpy as np
import pytest
from hosts import HOSTS, SAMPLE, Vendor, branches, dense, floats, model_of, registered, session, tensor
from onnx import helper

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
CLASSES = {"plan_classes": "1", "cache": "0"}


def decoder():
    """A step of a decoder: a cache of `past` rows that the CPU makes one longer, and both in one region."""
    nodes = [
        helper.make_node("Concat", ["past", "new"], ["present"], "join", axis=0),
        helper.make_node("Add", ["a", "b"], ["s"], "shared"),
        helper.make_node("Add", ["past", "s"], ["u"], "old"),
        helper.make_node("MatMul", ["u", "w"], ["old_rows"], "old_product"),
        helper.make_node("Mul", ["present", "s"], ["rows"], "rows"),
    ]
    inputs = [tensor("past", ["past_length", 4]), tensor("new", [1, 4]), tensor("a", [4])]
    outputs = [tensor("old_rows", ["past_length", 3]), tensor("rows", [None, 4]), tensor("present", [None, 4])]
    return model_of(nodes, inputs, outputs, {"b": floats(4, seed=1), "w": floats(4, 3, seed=2)})


def decode(given, expected, first, steps):
    cache = floats(first, 4, seed=3)
    for step in range(steps):
        feed = {"past": cache, "new": floats(1, 4, seed=step), "a": floats(4, seed=step + 1)}
        results = given.run(None, feed)
        for ours, theirs in zip(results, expected.run(None, feed), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        cache = results[2]


def compiled_in_two_rounds(given, first, steps):
    vendor, expected = Vendor(), roundhouse.InferenceSession(decoder(), providers=["CPUExecutionProvider"])
    counts = []
    for _ in range(2):
        with vendor.counted() as counted:
            decode(given, expected, first, steps)
        counts.append(counted["compile"])
    return counts


@hosts
@pytest.mark.parametrize(("first", "steps", "most"), [(0, 64, 8), (5, 64, 8), (100, 64, 8), (0, 200, 20), (250, 200, 20)])
def test_growing_steps_compile_few_classes(host, first, steps, most):
    with registered(host, SAMPLE):
        first_time, second_time = compiled_in_two_rounds(session(host, SAMPLE, decoder(), CLASSES), first, steps)
    assert 2 <= first_time <= most
    assert second_time == 0


def feeds(make, n):
    if make is dense:
        return {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)}
    return {"x": floats(n, 4, seed=n), "c": np.array(n % 2 == 0)}


def assert_like_the_cpu(given, model, feeds):
    expected = roundhouse.InferenceSession(model, providers=["CPUExecutionProvider"])
    for feed in feeds:
        np.testing.assert_allclose(given.run(None, feed)[0], expected.run(None, feed)[0], rtol=1e-5, atol=1e-6)


@hosts
@pytest.mark.parametrize("make", [dense, branches])
def test_results_are_the_cpus(host, make):
    with registered(host, SAMPLE):
        assert_like_the_cpu(session(host, SAMPLE, make(), CLASSES), make(), [feeds(make, n) for n in (1, 5, 2, 16, 17, 40, 0, 33, 1)])


def inner_product():
    """A sum over `n`, before which values beyond the true size become other than zero."""
    nodes = [
        helper.make_node("Add", ["x", "one"], ["m"], "add"),
        helper.make_node("MatMul", ["m", "v"], ["y"], "product"),
    ]
    inputs = [tensor("x", [2, "n"]), tensor("v", ["n", 3])]
    return model_of(nodes, inputs, [tensor("y", [2, 3])], {"one": np.ones(1, "f4")})


@hosts
def test_what_padding_would_change_is_not_padded(host):
    feeds = [{"x": floats(2, n, seed=n), "v": floats(n, 3, seed=n)} for n in (3, 5, 3)]
    with registered(host, SAMPLE), Vendor().counted() as counts:
        assert_like_the_cpu(session(host, SAMPLE, inner_product(), CLASSES), inner_product(), feeds)
    assert counts["compile"] == 2
