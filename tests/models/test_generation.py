"""Operators that generate tokens with decoder graphs, token for token as ONNX Runtime."""

import generation
import numpy as np
import onnxruntime
import pytest
from common import session
from onnx import TensorProto, helper
from searches import Search

import roundhouse

SCORES_CLOSE = dict(rtol=1e-3, atol=1e-3)


def outputs_of(module, model, feeds, threads, path):
    path.write_bytes(model)
    return session(module, path, threads).run(None, feeds)


@pytest.mark.parametrize("kind", ["greedy", "sampling", "beam", "t5", "pointer", "whisper"])
def test_as_onnx_runtime(kind, tmp_path):
    for seed in range(20):
        case = Search(kind, seed)
        path = tmp_path / "model.onnx"
        ours = outputs_of(roundhouse, case.model(), case.feeds, 1 + seed % 2, path)
        expected = outputs_of(onnxruntime, case.model(), case.feeds, 1, path)
        assert [o.shape for o in ours] == [o.shape for o in expected], seed
        for name, a, e in zip(case.outputs, ours, case.settled(ours, expected)):
            exact = {"rtol": 0, "atol": 0} if name == "sequences" else SCORES_CLOSE
            np.testing.assert_allclose(a, e, **exact, err_msg=f"seed {seed}: {name}")


def test_items_end_by_themselves(tmp_path):
    """A search goes on as long as its own beams can improve. ONNX Runtime asks the beams of another item, so it runs each alone."""
    differing = 0
    for seed in range(40, 52):
        case, path = Search("beam", seed), tmp_path / "model.onnx"
        if case.batch == 1:
            continue
        case.attributes["early_stopping"] = 0
        case.give("length_penalty", [2.0], np.float32)
        ours = outputs_of(roundhouse, case.model(), case.feeds, 1, path)[0]
        together = outputs_of(onnxruntime, case.model(), case.feeds, 1, path)[0]
        differing += not np.array_equal(ours, together)
        for item in range(case.batch):
            per_item = ("input_ids", "attention_mask", "prefix_vocab_mask")
            feeds = {n: v[item : item + 1] if n in per_item else v for n, v in case.feeds.items()}
            alone = outputs_of(onnxruntime, case.model(), feeds, 1, path)[0]
            np.testing.assert_array_equal(ours[item : item + 1], alone, f"seed {seed}, item {item}")
    assert differing, "ONNX Runtime no longer mixes items: draw early_stopping freely"


@pytest.mark.parametrize("kind", ["greedy", "beam"])
def test_shared_buffers_of_one_decoder(kind, tmp_path):
    """They change nothing. ONNX Runtime's Attention has no such buffers on the CPU."""
    for seed in range(8):
        case, tokens = Search(kind, seed), []
        case.attributes.pop("init_decoder", None)
        for shared in (False, True):
            case.attributes["decoder"] = generation.gpt(seed=seed, shared=shared)
            tokens.append(outputs_of(roundhouse, case.model(), case.feeds, 1, tmp_path / "model.onnx")[0])
        np.testing.assert_array_equal(*tokens, err_msg=f"seed {seed}")


@pytest.mark.parametrize("kind", ["t5", "whisper"])
def test_shared_buffers(kind, tmp_path):
    """They change nothing. ONNX Runtime runs such decoders on the CPU, but gives other tokens for them, or an error."""
    path = tmp_path / "model.onnx"
    for seed in range(8):
        case = Search(kind, seed)
        plain = generation.decoder_of_buffers(seed=seed, masked=kind == "t5", shared=False)
        model = generation.model(case.op, case.feeds, case.outputs, **case.attributes | {"decoder": plain})
        ours, expected = (outputs_of(module, model, case.feeds, 1, path) for module in (roundhouse, onnxruntime))
        np.testing.assert_array_equal(ours[0], expected[0], f"seed {seed}")
        shared = generation.decoder_of_buffers(seed=seed, masked=kind == "t5")
        model = generation.model(case.op, case.feeds, case.outputs, **case.attributes | {"decoder": shared})
        np.testing.assert_array_equal(outputs_of(roundhouse, model, case.feeds, 2, path)[0], ours[0], f"seed {seed}")


BASE = {"input_ids": np.array([[3, 4], [5, 6]], np.int32), "max_length": np.array([8], np.int32)}
BEAMS = {**BASE, "num_beams": np.array([2], np.int32), "num_return_sequences": np.array([1], np.int32)}


def search(tmp_path, op, feeds, outputs=("sequences",), **attributes):
    attributes = {"decoder": generation.gpt(), "eos_token_id": 2, "pad_token_id": 0, **attributes}
    return outputs_of(roundhouse, generation.model(op, feeds, outputs, **attributes), feeds, 2, tmp_path / "model.onnx")


def test_one_beam_is_the_greedy_search(tmp_path):
    """Without the inputs that ONNX Runtime asks for although its schema makes them optional."""
    one = {**BEAMS, "num_beams": np.array([1], np.int32)}
    greedy = search(tmp_path, "GreedySearch", BASE, eos_token_id=-1)[0]
    np.testing.assert_array_equal(search(tmp_path, "BeamSearch", one, eos_token_id=-1)[0][:, 0], greedy)


def test_narrow_logits(tmp_path):
    """Of a decoder that ends in float16, which ONNX Runtime refuses on the CPU."""
    narrow = generation.gpt()
    last = next(node for node in narrow.node if node.output[0] == "logits")
    last.op_type = "Cast"
    last.attribute.append(helper.make_attribute("to", TensorProto.FLOAT16))
    narrow.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    for op, feeds in (("GreedySearch", BASE), ("BeamSearch", BEAMS)):
        np.testing.assert_array_equal(search(tmp_path, op, feeds, decoder=narrow)[0], search(tmp_path, op, feeds)[0])


def test_vocabulary_smaller_than_the_logits(tmp_path):
    """Rows of logits are as far apart as the decoder's are; the tokens above the vocabulary never come."""
    mask = {**BASE, "vocab_mask": (np.arange(30) < 20).astype(np.int32)}
    smaller = search(tmp_path, "GreedySearch", BASE, vocab_size=20)[0]
    np.testing.assert_array_equal(smaller, search(tmp_path, "GreedySearch", mask)[0])
    assert smaller.max() < 20


def test_presence_penalty(tmp_path):
    """Tokens that are marked present lose all chance."""
    feeds = {**BASE, "presence_mask": (np.arange(60).reshape(2, 30) % 2).astype(np.int32), "seed": np.array([3], np.int32)}
    tokens = search(tmp_path, "Sampling", feeds, top_p=1.0, temperature=10.0, presence_penalty=1e4, eos_token_id=-1)[0][:, 2:]
    assert (tokens % 2 == 0).all() and np.unique(tokens).size > 2


def test_filtered_logits(tmp_path):
    """Those of the last step: the token that came is among the two that stay."""
    feeds = {**BASE, "max_length": np.array([3], np.int32)}
    attributes = {"min_tokens_to_keep": 2, "filter_value": -77.0, "eos_token_id": -1}
    tokens, logits = search(tmp_path, "Sampling", feeds, ("sequences", "filtered_logits"), **attributes)
    assert logits.shape == (2, generation.VOCABULARY)
    np.testing.assert_array_equal((logits != -77).sum(1), [2, 2])
    assert (np.take_along_axis(logits, tokens[:, 2:], 1) != -77).all()


def test_no_speech_probability(tmp_path):
    """It is the share of the token in the first logits, which a search for one token has in its scores."""
    feeds = {**BEAMS, "input_ids": np.random.default_rng(0).standard_normal((2, generation.HIDDEN, 6)).astype(np.float32)}
    graphs = {"decoder": generation.cross_decoder(masked=False), "encoder": generation.whisper_encoder()}
    outputs = ["sequences", "sequences_scores", "scores", "", "non_speech_probs"]
    results = search(tmp_path, "WhisperBeamSearch", feeds, outputs, **graphs, decoder_start_token_id=1, no_speech_token_id=7)
    np.testing.assert_allclose(results[3], np.exp(results[2][0, :, 0, 7]), rtol=1e-5)


MISTAKES = [
    ("GreedySearch", {"max_length": [2]}, {}, "max_length is 2, expected more than the 2 tokens"),
    ("GreedySearch", {"input_ids": np.zeros((2, 0))}, {}, r"tokens have shape \[2, 0\]"),
    ("GreedySearch", {"max_length": [8, 9]}, {}, "max_length has 2 elements, expected 1"),
    ("GreedySearch", {"repetition_penalty": np.float32([0])}, {}, "repetition_penalty is 0, expected a number above 0"),
    ("GreedySearch", {"vocab_mask": np.ones(20)}, {}, r"vocab_mask has shape \[20\], expected \[30\]"),
    ("GreedySearch", {"attention_mask": np.ones((2, 3))}, {}, r"attention_mask has shape \[2, 3\], expected \[2, 2\]"),
    ("GreedySearch", {}, {"vocab_size": 31}, "vocab_size is 31, but the decoder gives scores of 30 tokens"),
    (
        "GreedySearch",
        {},
        {"model_type": 1, "decoder_start_token_id": 1, "decoder": generation.cross_decoder()},
        "attribute 'encoder' is missing",
    ),
    ("GreedySearch", {}, {"model_type": 3}, "model_type is 3, expected 0"),
    ("GreedySearch", {}, {"decoder": generation.cross_encoder(name="decoder")}, "the decoder has 2 inputs and 4 outputs"),
    ("Sampling", {}, {"min_tokens_to_keep": 30}, "min_tokens_to_keep is 30, expected 0 to 29"),
    ("BeamSearch", {"num_beams": [0]}, {}, "num_beams is 0, expected 1 to 128"),
    ("BeamSearch", {"num_return_sequences": [3]}, {}, "num_return_sequences is 3, expected 1 to num_beams, which is 2"),
    ("BeamSearch", {"prefix_vocab_mask": np.ones((1, 30))}, {}, r"prefix_vocab_mask has shape \[1, 30\], expected \[2, 30\]"),
]


@pytest.mark.parametrize("op, changes, attributes, message", MISTAKES, ids=[m[3][:30] for m in MISTAKES])
def test_mistakes(op, changes, attributes, message, tmp_path):
    feeds = {**(BEAMS if op == "BeamSearch" else BASE)}
    for name, values in changes.items():
        values = np.asarray(values)
        feeds[name] = values if values.dtype == np.float32 else values.astype(np.int32)
    with pytest.raises(Exception, match=message):
        search(tmp_path, op, feeds, **attributes)
