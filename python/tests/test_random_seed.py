"""The seed that a program sets decides what random operators draw that have none of their own."""

import models
import numpy as np
import pytest
from onnx import TensorProto, helper

import roundhouse

LIKE = ("RandomNormalLike", "RandomUniformLike", "Bernoulli")
ALL = ("RandomNormal", "RandomUniform", *LIKE, "Multinomial", "Dropout")


def node(operator, output, **attributes):
    if operator == "Dropout":
        return helper.make_node(operator, ["x", "ratio", "training"], [output], **attributes)
    if operator == "Multinomial":
        return helper.make_node(operator, ["chances"], [output], sample_size=64, **attributes)
    shape = {} if operator in LIKE else {"shape": [64]}
    return helper.make_node(operator, ["x"] if operator in LIKE else [], [output], **shape, **attributes)


def session(operator, count=1, **attributes):
    names = [f"y{i}" for i in range(count)]
    element = TensorProto.INT32 if operator == "Multinomial" else TensorProto.FLOAT
    constants = [
        helper.make_tensor("ratio", TensorProto.FLOAT, [], [0.5]),
        helper.make_tensor("training", TensorProto.BOOL, [], [1]),
        helper.make_tensor("chances", TensorProto.FLOAT, [1, 4], [0.0, 0.5, 1.0, 1.5]),
    ]
    data = models.model(
        [node(operator, name, **attributes) for name in names],
        [models.tensor("x", shape=(64,))],
        [models.tensor(name, element, (1, 64) if operator == "Multinomial" else (64,)) for name in names],
        constants,
        opset=15,
    )
    return roundhouse.InferenceSession(data)


def draw(of):
    return [value.tolist() for value in of.run(None, {"x": np.full(64, 0.5, np.float32)})]


@pytest.fixture(autouse=True)
def seed_of_other_tests():
    yield
    roundhouse.set_seed(1)


def drawn(operator, seed, count=1):
    roundhouse.set_seed(seed)
    return draw(session(operator, count))


@pytest.mark.parametrize("operator", ALL)
def test_the_same_seed_draws_the_same_and_another_draws_others(operator):
    assert drawn(operator, 42) == drawn(operator, 42)
    assert drawn(operator, 42) != drawn(operator, 43)


@pytest.mark.parametrize("operator", ALL)
def test_nodes_of_one_model_draw_each_for_itself(operator):
    first, second = drawn(operator, 42, count=2)
    assert first != second


@pytest.mark.parametrize("operator", ALL)
def test_runs_of_one_session_draw_each_for_itself(operator):
    roundhouse.set_seed(42)
    made = session(operator)
    runs = [draw(made) for _ in range(3)]
    roundhouse.set_seed(42)
    again = session(operator)
    assert runs == [draw(again) for _ in range(3)]
    assert runs[0] != runs[1]


def test_sessions_that_are_made_under_one_seed_draw_alike():
    roundhouse.set_seed(42)
    assert draw(session("RandomNormal")) == draw(session("RandomNormal"))


def test_a_node_with_a_seed_of_its_own_keeps_it():
    drawings = []
    for seed in (1, 2):
        roundhouse.set_seed(seed)
        drawings.append(draw(session("RandomNormal", seed=7.0)))
    assert drawings[0] == drawings[1]


def test_what_is_drawn_is_of_the_distribution():
    roundhouse.set_seed(3)
    data = models.model(
        [helper.make_node("RandomNormal", [], ["y"], shape=[100000], mean=2.0, scale=3.0)],
        [],
        [models.tensor("y", shape=(100000,))],
        opset=15,
    )
    y = roundhouse.InferenceSession(data).run(None, {})[0]
    assert abs(float(y.mean()) - 2) < 0.05
    assert abs(float(y.std()) - 3) < 0.05
