#!/usr/bin/env python3
"""Searches with small random decoders beside ONNX Runtime, by turns in one process on one thread; prints a markdown table.

Run with PYTHONPATH=build/release/python. Each row: the least processor time of each for 64 new tokens, which must be equal.
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import onnxruntime

import roundhouse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/models"))
import generation  # noqa: E402

NEW_TOKENS = 64
GPT, CROSS = "decoder", "encoder and decoder"
# Kind, operator, rows, tokens of the prompt, beams.
CASES = [
    (GPT, "GreedySearch", 1, 16, 1),
    (GPT, "GreedySearch", 4, 16, 1),
    (GPT, "BeamSearch", 1, 16, 4),
    (GPT, "BeamSearch", 1, 128, 4),
    (CROSS, "BeamSearch", 1, 32, 4),
    (CROSS, "BeamSearch", 2, 128, 4),
]


def model(kind, op, rows, length, beams):
    def numbers(*values):
        return np.array(values, np.int32)

    feeds = {"input_ids": np.random.default_rng(0).integers(3, generation.VOCABULARY, (rows, length)).astype(np.int32)}
    first = length if kind == GPT else 1
    feeds |= {"max_length": numbers(first + NEW_TOKENS), "min_length": numbers(first + NEW_TOKENS)}
    if op == "BeamSearch":
        feeds |= {"num_beams": numbers(beams), "num_return_sequences": numbers(1), "length_penalty": np.ones(1, np.float32)}
    attributes = {"eos_token_id": 2, "pad_token_id": 0}
    if kind == GPT:
        attributes["decoder"] = generation.gpt(vocabulary=generation.VOCABULARY)
    else:
        graphs = {"decoder": generation.decoder_of_buffers(shared=False), "encoder": generation.cross_encoder()}
        attributes |= graphs | {"model_type": 1, "decoder_start_token_id": 1}
    return generation.model(op, feeds, ["sequences"], **attributes), feeds


def session(module, serialized):
    options = module.SessionOptions()
    options.intra_op_num_threads = 1
    return module.InferenceSession(serialized, options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    generation.set_sizes(heads=8, head_size=32, layers=4, vocabulary=8000, positions=256, scale=0.06)
    print("| graphs | operator | rows | prompt | beams | Roundhouse | ONNX Runtime | speedup |")
    print("| --- " * 8 + "|")
    for case in CASES:
        serialized, feeds = model(*case)
        sessions = [session(module, serialized) for module in (roundhouse, onnxruntime)]
        np.testing.assert_array_equal(*(s.run(None, feeds)[0] for s in sessions))
        best = [float("inf")] * 2
        for _ in range(rounds):
            for i, s in enumerate(sessions):
                started = time.thread_time()
                s.run(None, feeds)
                best[i] = min(best[i], time.thread_time() - started)
        print("|", *(f"{x} |" for x in case), f"{best[0] * 1e3:.1f} ms | {best[1] * 1e3:.1f} ms | {best[1] / best[0]:.2f} |")


if __name__ == "__main__":
    main()
