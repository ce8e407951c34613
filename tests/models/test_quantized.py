"""Quantised models: how far they are off the model that they stand for, beside ONNX Runtime."""

import pathlib

import numpy as np
import onnxruntime
import pytest
from common import model_path, sample_inputs, session
from dequantize import dequantized_model, root_mean_square

import roundhouse

# Model, outputs, and the sizes of its dynamic dimensions.
MODELS = [
    ("resnet50_int8_qdq", ["output"], None),
    ("bert_base_int8_dynamic", ["last_hidden_state", "pooler_output"], {128: 40}),
    ("llama_tiny_int4", ["logits", "present.7.key"], None),
]


@pytest.mark.parametrize("name, outputs, sizes", MODELS, ids=[m[0] for m in MODELS])
def test_error_is_at_most_a_tenth_above_the_references(name, outputs, sizes, tmp_path):
    path, exact_path = model_path(name), tmp_path / "exact.onnx"
    exact_path.write_bytes(dequantized_model(path, "f4").SerializeToString())
    # float32 is off by a thousandth of what quantisation is.
    exact = session(onnxruntime, exact_path, 2)
    exact_path.unlink()
    runners = [session(roundhouse, path, threads) for threads in (1, 2)] + [session(onnxruntime, path, 2)]
    squares = [[0.0] * len(outputs) for _ in runners]
    for seed in range(2):
        feeds = sample_inputs(path, seed, sizes)
        expected = exact.run(outputs, feeds)
        results = [r.run(outputs, feeds) for r in runners]
        for a, b in zip(results[0], results[1]):
            assert root_mean_square(a - b) <= 1e-3 * root_mean_square(b), "threads change the result"
        for errors, result in zip(squares, results):
            for i, (a, e) in enumerate(zip(result, expected)):
                assert a.shape == e.shape and a.dtype == e.dtype
                errors[i] += root_mean_square(a - e) ** 2 / root_mean_square(e) ** 2
    for ours in squares[:2]:
        for output, mine, reference in zip(outputs, ours, squares[2]):
            assert mine**0.5 <= 1.1 * reference**0.5, f"{output}: relative error {mine**0.5:.4g}, the reference's is {reference**0.5:.4g}"
            assert mine**0.5 < 0.25, f"{output}: relative error {mine**0.5:.4g}"


def prompt_feeds(path, length):
    """A prompt of several tokens on an empty cache."""
    positions = np.arange(length, dtype=np.int64)[None]
    feeds = sample_inputs(path, 3, {128: 0, 129: length})
    return {**feeds, "input_ids": 7 * positions + feeds["input_ids"] % 30000, "position_ids": positions}


def int4_runner(options):
    session_options = roundhouse.SessionOptions()
    session_options.intra_op_num_threads = 2
    for key, value in options.items():
        session_options.add_session_config_entry(key, value)
    return roundhouse.InferenceSession(str(model_path("llama_tiny_int4")), session_options)


def prompt_and_tokens(runner, length):
    """All results for the prompt at once, and the same from its tokens one at a time: logits of each, and the last cache."""
    outputs = [o.name for o in runner.get_outputs()]
    feeds = prompt_feeds(model_path("llama_tiny_int4"), length)
    whole = dict(zip(outputs, runner.run(None, feeds)))
    cache = {k: v for k, v in feeds.items() if k.startswith("past")}
    logits = []
    for i in range(length):
        step = {"input_ids": feeds["input_ids"][:, i : i + 1], "position_ids": feeds["position_ids"][:, i : i + 1]}
        step["attention_mask"] = np.ones((1, i + 1), np.int64)
        result = dict(zip(outputs, runner.run(None, {**step, **cache})))
        cache = {k: result[k.replace("past_key_values", "present")] for k in cache}
        logits.append(result["logits"][:, -1:])
    return whole, {**result, "logits": np.concatenate(logits, axis=1)}


STRICT = {"roundhouse.precision": "strict"}  # rows of 16 bits


def test_int4_prompt_equals_token_by_token():
    """The product of many rows (dequantised weights) and of one row (codes read directly) agree through the whole model."""
    whole, tokens = prompt_and_tokens(int4_runner(STRICT), 9)
    assert np.abs(tokens["logits"] - whole["logits"]).max() <= 1e-4 * np.abs(whole["logits"]).max()


def test_int4_prompt_of_rows_of_8_bits_parts_from_its_tokens_by_less_than_those_round():
    """Products of the same rows differ by the order of their sums alone. What is computed from them is rounded to 8 bits anew, where a
    last bit can decide between two whole numbers: further on prompt and tokens part, by less than what the rounding itself costs. Where
    there are no dot products of bytes the rows of prompts are not rounded, and they part by that."""
    whole, tokens = prompt_and_tokens(int4_runner({}), 9)
    finer, _ = prompt_and_tokens(int4_runner(STRICT), 9)
    scale = root_mean_square(whole["logits"])
    rounding = root_mean_square(whole["logits"] - finer["logits"])
    apart = root_mean_square(tokens["logits"] - whole["logits"])
    if "avx512_vnni" not in pathlib.Path("/proc/cpuinfo").read_text():
        assert rounding == 0 and apart <= 0.03 * scale
        return
    for name in ("present.0.key", "present.0.value"):
        assert root_mean_square(tokens[name] - whole[name]) <= 1e-6 * root_mean_square(whole[name]), name
    assert rounding <= 0.03 * scale
    assert apart <= rounding + 1e-4 * scale
