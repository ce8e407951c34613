"""Whole models on Roundhouse and on ONNX Runtime, at 1 and 2 threads."""

import importlib.util
import pathlib

import numpy as np
import onnx
import onnxruntime
import pytest
from common import HALF_TOLERANCE, TOLERANCE, assert_close, assert_outputs_close, compare_model, model_path, sample_inputs, session
from convert import convert_model

import roundhouse

THREADS = [1, 2]

# Model, and further sizes of its dynamic dimensions.
FIXED_OUTPUT_MODELS = [
    ("resnet50", []),
    ("mobilenetv3_large_100", []),
    ("bert_base", [{128: 37}, {128: 1}, {1: 2, 128: 64}]),
    ("lstm_tagger", [{64: 1}, {64: 13}, {1: 3, 64: 20}]),
    ("gpt2", []),
    ("efficientnet_b0", []),
    ("convnext_tiny", []),
    ("vit_small_patch16_224", []),
    ("deeplabv3_mobilenet_v3_large", []),
    ("unet", []),
    ("distilbert", [{128: 37}, {1: 2, 128: 64}]),
    ("llama_tiny", []),
    ("whisper_tiny_encoder", [{1: 2}]),
]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name, sizes", FIXED_OUTPUT_MODELS, ids=[m[0] for m in FIXED_OUTPUT_MODELS])
def test_outputs_equal(name, sizes, threads):
    path = model_path(name)
    compare_model(path, threads, [sample_inputs(path, seed, s) for seed, s in enumerate([None, *sizes])])


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", ["mobilenetv3_large_100_fp16", "bert_base_fp16"])
def test_float16_outputs_equal(name, threads):
    path = model_path(name)
    compare_model(path, threads, [sample_inputs(path)], HALF_TOLERANCE)


# Deeper convolutional models are further off by the rounding alone: 6e-2 for mobilenetv3_large_100 and resnet50, on any runtime.
@pytest.mark.parametrize("name", ["unet", "vit_small_patch16_224"])
def test_bfloat16_variant_is_near_float32(name, tmp_path):
    path = model_path(name)
    narrow_path = tmp_path / "bfloat16.onnx"
    onnx.save(convert_model(onnx.load(path)), narrow_path)
    feeds = sample_inputs(path)
    expected = session(roundhouse, path, 1).run(None, feeds)
    for threads in THREADS:
        narrow = session(roundhouse, narrow_path, threads)
        for output, actual, near in zip(narrow.get_outputs(), narrow.run(None, feeds), expected):
            assert_close(actual, near, output.name, HALF_TOLERANCE)


def match_detections(ours, reference):
    """Pairs each reference detection with one of ours of the same label, box and score within the tolerance; returns those left over."""
    boxes, scores, labels = ours
    scale_box, scale_score = np.abs(reference[0]).max(), np.abs(reference[1]).max()
    free = np.ones(len(scores), bool)
    unmatched = []
    for box, score, label in zip(*reference):
        near = free & (labels == label) & (np.abs(scores - score) <= TOLERANCE * scale_score)
        near &= (np.abs(boxes - box) <= TOLERANCE * scale_box).all(axis=1)
        if near.any():
            free[np.argmax(near)] = False
        else:
            unmatched.append((box, score, label))
    return unmatched, int(free.sum())


@pytest.mark.parametrize("threads", THREADS)
def test_detections_equal_as_sets(threads):
    path = model_path("ssdlite320_mobilenet_v3_large")
    ours, reference = session(roundhouse, path, threads), session(onnxruntime, path, threads)
    for seed in range(2):
        feeds = sample_inputs(path, seed)
        expected = reference.run(["boxes", "scores", "labels"], feeds)
        actual = ours.run(["boxes", "scores", "labels"], feeds)
        assert [a.dtype for a in actual] == [e.dtype for e in expected]
        assert len(expected[1]) > 10
        unmatched, extra = match_detections(actual, expected)
        assert not unmatched and not extra, f"{len(unmatched)} of {len(expected[1])} detections missing, {extra} too many: {unmatched[:3]}"


class Generation:
    """A session of a decoder that feeds its key/value cache back."""

    def __init__(self, module, name, threads):
        self.session = session(module, model_path(name), threads)
        self.outputs = [o.name for o in self.session.get_outputs()]
        past = [i for i in self.session.get_inputs() if i.name.startswith("past_key_values.")]
        self.cache = {i.name: np.zeros((1, i.shape[1], 0, i.shape[3]), np.float32) for i in past}

    def step(self, tokens):
        past = next(iter(self.cache.values())).shape[2]
        positions = np.arange(past, past + len(tokens), dtype=np.int64)[None]
        mask = np.ones((1, past + len(tokens)), np.int64)
        feeds = {"input_ids": np.array([tokens], np.int64), "attention_mask": mask, "position_ids": positions, **self.cache}
        results = self.session.run(self.outputs, feeds)
        named = dict(zip(self.outputs, results))
        self.cache = {name: named[name.replace("past_key_values", "present")] for name in self.cache}
        return results


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", ["gpt2", "llama_tiny"])
def test_generates_the_same_over_growing_steps(name, threads):
    ours, reference = Generation(roundhouse, name, threads), Generation(onnxruntime, name, threads)
    tokens = [464, 2068, 7586, 21831, 18045]  # a prompt, then one token a step
    bindings = []
    for step in range(51):
        actual, expected = ours.step(tokens), reference.step(tokens)
        assert_outputs_close([f"step {step} {n}" for n in ours.outputs], actual, expected)
        tokens = [int(expected[0][0, -1].argmax())]
        bindings.append(ours.session.statistics()["plan_bindings"])
    assert next(iter(ours.cache.values())).shape[2] == 55
    assert bindings[-1] - bindings[4] <= 4, f"a cache of 9 to 55 rows may double a few times, not bind anew each step: {bindings}"


def light_models():
    folder = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    return sorted(folder.glob("light_*.onnx"))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("path", light_models(), ids=lambda p: p.stem)
def test_light_models_equal(path, threads):
    model = onnx.load(path)
    initialized = {t.name for t in model.graph.initializer}
    rng = np.random.default_rng(0)
    feeds = {
        i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
        for i in model.graph.input
        if i.name not in initialized
    }
    compare_model(path, threads, [feeds])


def test_all_light_models_are_there():
    assert len(light_models()) == 9


def package_folder(name):
    return pathlib.Path(importlib.util.find_spec(name).submodule_search_locations[0])


@pytest.mark.parametrize("threads", THREADS)
def test_magika_model_equal(threads):
    (path,) = package_folder("magika").glob("models/*/model.onnx")
    rng = np.random.default_rng(0)
    text = np.frombuffer(pathlib.Path(__file__).read_bytes()[:2048], np.uint8).astype(np.int32)[None]
    compare_model(path, threads, [{"bytes": text}] + [{"bytes": rng.integers(0, 257, (n, 2048), dtype=np.int32)} for n in (1, 3, 13)])


SILERO_DATA = package_folder("silero_vad") / "data"
SILERO = [
    ("silero_vad", 16000, True),
    ("silero_vad", 8000, True),
    ("silero_vad_16k_op15", 16000, True),
    ("silero_vad_op18_ifless", 16000, True),
    ("silero_vad_op18_ifless", 8000, True),
    ("silero_vad_half", 16000, False),
    ("silero_vad_openvino_16k", 16000, False),
]


def probabilities_and_states(module, path, rate, takes_rate, threads):
    """One probability and one state for each of 20 windows of noise of changing loudness, the state fed back."""
    runner = session(module, path, threads)
    rng = np.random.default_rng(0)
    state, results = np.zeros((2, 1, 128), np.float32), []
    for window in range(20):
        sound = rng.standard_normal((1, 576 * rate // 16000)).astype(np.float32) * np.float32(0.3 * (window % 4))
        feeds = {"input": sound, "state": state, **({"sr": np.array(rate, np.int64)} if takes_rate else {})}
        probability, state = runner.run(["output", "stateN"], feeds)
        results.append((probability, state))
    return [np.concatenate(column) for column in zip(*results)]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name, rate, takes_rate", SILERO)
def test_voice_activity_models_equal_with_state_fed_back(name, rate, takes_rate, threads):
    # All windows count as one output: ONNX Runtime's Sigmoid is off by some 5e-8, whatever the size of a probability.
    arguments = (SILERO_DATA / f"{name}.onnx", rate, takes_rate, threads)
    ours, reference = (probabilities_and_states(module, *arguments) for module in (roundhouse, onnxruntime))
    assert_outputs_close(["probabilities", "states"], ours, reference)


@pytest.mark.parametrize("threads", THREADS)
def test_voice_activity_sequence_model_equal(threads):
    rng = np.random.default_rng(0)
    zeros = np.zeros((1, 1, 128), np.float32)
    feeds = [{"input": rng.standard_normal((n, 576)).astype(np.float32) * 0.3, "h": zeros, "c": zeros} for n in (1, 7, 20)]
    compare_model(SILERO_DATA / "silero_vad_16k_sequence.onnx", threads, feeds)


def test_assert_close_tells_wrong_from_right():
    right = np.array([1.0, -2.0, 3.0], np.float32)
    assert_close(right + np.float32(1e-4), right, "within")
    for wrong in (right + np.float32(1e-3), right[:2], right.astype("f8"), np.array([np.nan, -2, 3], np.float32)):
        with pytest.raises(AssertionError):
            assert_close(wrong, right, "beyond")
