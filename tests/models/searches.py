"""Searches over tiny decoders: inputs, outputs and attributes of the operators that generate tokens, drawn from a seed."""

import random

import generation
import numpy as np

PADS = (0, 29, -1)


class Search:
    """Drawn from a seed; `kind`: greedy, sampling, beam (of a GPT), t5, whisper."""

    def __init__(self, kind, seed):
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        choose = self.random.choice
        self.batch, self.length = choose([1, 2, 3]), choose([1, 2, 5])
        self.attributes = {"eos_token_id": choose([2, 5, 10, 16, -1]), "pad_token_id": choose(PADS)}
        if choose([True, False, False]):
            self.attributes["no_repeat_ngram_size"] = choose([1, 2, 3])
        self.feeds, self.outputs = {}, ["sequences"]
        self.give("input_ids", self.tokens())
        # ONNX Runtime cannot make just one token with Whisper.
        self.give("max_length", [self.length + choose([2, 7, 12] if kind == "whisper" else [1, 2, 7, 12])])
        self.give("min_length", [choose([0, 1, self.length + 3, 40])])
        if choose([True, False]):
            self.give("repetition_penalty", [choose([1.0, 1.5, 0.5])], np.float32)
        if choose([True, False, False]):
            self.give("vocab_mask", self.rng.integers(0, 3, generation.VOCABULARY).clip(0, 1))
        if choose([True, False, False]):
            self.give("prefix_vocab_mask", self.rng.integers(0, 2, (self.batch, generation.VOCABULARY)))
        if choose([True, False, False]):
            self.give("attention_mask", self.rng.integers(0, 2, (self.batch, self.length)))
        getattr(self, kind)(seed)

    def give(self, name, values, dtype=np.int32):
        self.feeds[name] = np.asarray(values, dtype)

    def tokens(self):
        return self.rng.integers(0, generation.VOCABULARY, (self.batch, self.length))

    def beams(self):
        choose, beams = self.random.choice, self.random.choice([1, 2, 3, 4])
        self.op = "BeamSearch"
        self.give("num_beams", [beams])
        self.give("num_return_sequences", [self.random.randint(1, beams)])
        self.give("length_penalty", [choose([1.0, 0.0, 2.0, -0.5])], np.float32)
        # Whether an item of several can still improve ONNX Runtime asks of the scores of another item.
        self.attributes["early_stopping"] = choose([0, 1]) if self.batch == 1 or self.attributes["eos_token_id"] == -1 else 1
        self.outputs += choose([[], ["sequences_scores"], ["sequences_scores", "scores"]])

    def greedy(self, seed):
        self.op = "GreedySearch"
        self.attributes["decoder"] = generation.gpt(seed=seed % 5)
        if self.random.choice([True, False]):
            self.attributes["init_decoder"] = generation.gpt("init_decoder", seed=seed % 5)

    def sampling(self, seed):
        self.greedy(seed)
        self.op = "Sampling"
        choose = self.random.choice
        self.give("seed", [self.random.randint(0, 1000)])
        self.attributes |= {"temperature": choose([1.0, 5.0, 0.5, 0.0]), "top_p": choose([0.0, 0.5, 0.9, 1.0, 1.5])}
        self.attributes |= {"custom": choose([0, 1]), "min_tokens_to_keep": choose([0, 1, 5]), "filter_value": choose([-1e20, -3.0])}
        if self.attributes["top_p"] == 0 and not self.attributes["custom"]:
            self.attributes["min_tokens_to_keep"] |= 1  # else the rounding of a sum of 1 says whether the last token stays

    def beam(self, seed):
        self.beams()
        self.attributes["decoder"] = generation.gpt(seed=seed % 5)

    def t5(self, seed):
        self.beams()
        graphs = {"decoder": generation.cross_decoder(seed=seed % 5), "encoder": generation.cross_encoder()}
        self.attributes |= graphs | {"model_type": 1, "decoder_start_token_id": self.random.choice([0, 1, 3])}

    def pointer(self, seed):
        self.t5(seed)
        self.attributes["decoder"] = generation.cross_decoder(seed=seed % 5, points=True)

    def whisper(self, seed):
        self.beams()
        choose = self.random.choice
        self.feeds.pop("attention_mask", None)
        self.give("input_ids", self.rng.standard_normal((self.batch, generation.HIDDEN, 6)), np.float32)
        if choose([True, False]):
            self.give("decoder_input_ids", self.tokens())
        decoder = generation.cross_decoder(seed=seed % 5, masked=False)
        self.attributes |= {"decoder": decoder, "encoder": generation.whisper_encoder(), "decoder_start_token_id": 1, "model_type": 2}
        if choose([True, False]):
            return
        self.op = "WhisperBeamSearch"
        if choose([True, False]):
            self.give("temperature", [choose([1.0, 2.0, 0.5])], np.float32)
        if choose([True, False]):
            self.give("logits_processor", [1])
            self.attributes |= {"beginning_timestamp_token_id": choose([18, 20, 24]), "no_timestamps_token_id": 17}
            self.attributes |= {"start_of_lm_token_id": 16, "transcribe_token_id": 15, "translate_token_id": 14, "no_speech_token_id": 13}

    def model(self):
        return generation.model(self.op, self.feeds, self.outputs, **self.attributes)

    def settled(self, ours, theirs):
        """`theirs` with what ONNX Runtime leaves as the memory was taken from `ours`: columns of greedy searches in which all have ended,
        scores of steps that were not made for an item."""
        theirs = list(theirs)
        if self.op in ("GreedySearch", "Sampling") and ours[0].shape == theirs[0].shape:
            used = np.flatnonzero((ours[0] != self.attributes["pad_token_id"]).any(0))
            end = used[-1] + 1 if used.size else 0
            theirs[0] = np.concatenate([theirs[0][:, :end], ours[0][:, end:]], 1)
        if "scores" in self.outputs:
            at = self.outputs.index("scores")
            made = ours[at].any((2, 3), keepdims=True)
            if ours[at].shape == theirs[at].shape:
                theirs[at] = np.where(made, theirs[at], ours[at])
        return theirs
