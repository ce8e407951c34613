"""Tiny decoders and encoder-decoders with random weights, inside the operators that search with them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HEADS, HEAD_SIZE, LAYERS, POSITIONS = 30, 2, 4, 2, 64
HIDDEN = HEADS * HEAD_SIZE
SCALE = 0.6  # of the weights of products
#: Inputs of the operators in order, those that hold floats in capitals.
INPUTS = {
    "BeamSearch": "input_ids max_length min_length num_beams num_return_sequences LENGTH_PENALTY REPETITION_PENALTY vocab_mask "
    "prefix_vocab_mask attention_mask decoder_input_ids logits_processor",
    "GreedySearch": "input_ids max_length min_length REPETITION_PENALTY vocab_mask prefix_vocab_mask attention_mask",
    "Sampling": "input_ids max_length min_length REPETITION_PENALTY vocab_mask prefix_vocab_mask attention_mask presence_mask seed",
    "WhisperBeamSearch": "INPUT_IDS max_length min_length num_beams num_return_sequences LENGTH_PENALTY REPETITION_PENALTY vocab_mask "
    "prefix_vocab_mask attention_mask decoder_input_ids logits_processor cross_qk_layer_head extra_decoding_ids TEMPERATURE",
}


def set_sizes(heads, head_size, layers, vocabulary, positions, scale):
    """Of all graphs made from here on."""
    sizes = {"HEADS": heads, "HEAD_SIZE": head_size, "LAYERS": layers, "VOCABULARY": vocabulary, "POSITIONS": positions}
    globals().update(sizes, HIDDEN=heads * head_size, SCALE=scale)


def port(name, shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


class Builder:
    """Nodes and weights of one graph. Weights are drawn in order from the seed."""

    def __init__(self, name, seed):
        self.name, self.rng = name, np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, element=TensorProto.FLOAT):
        self.inputs.append(port(name, shape, element))
        return name

    def output(self, value, name, shape, element=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(port(name, shape, element))

    def constant(self, array):
        name = f"{self.name}.weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape, scale=1.0):
        return self.constant((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def op(self, op_type, *inputs, outputs=1, **attributes):
        names = [f"{self.name}.{op_type}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def embedding(self, ids, rows, scale=1.0):
        return self.op("Gather", self.weight(rows, HIDDEN, scale=scale), ids)

    def linear(self, x, width=None):
        return self.op("MatMul", x, self.weight(HIDDEN, width or HIDDEN, scale=SCALE))

    def heads(self, x):
        """[batch, length, hidden] as [batch, heads, length, head size]"""
        split = self.op("Reshape", x, self.constant(np.array([0, 0, HEADS, HEAD_SIZE], np.int64)))
        return self.op("Transpose", split, perm=[0, 2, 1, 3])

    def attention(self, q, k, v, bias=None):
        """Of heads, as [batch, length, hidden]; `bias` is added to the scores."""
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        if bias:
            scores = self.op("Add", scores, bias)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        merged = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", merged, self.constant(np.array([0, 0, HIDDEN], np.int64)))

    def mask_bias(self, mask):
        """[batch, keys] of 0 and 1 as [batch, 1, 1, keys] of -10000 and 0"""
        hidden = self.op("Sub", self.constant(np.float32(1)), self.op("Cast", mask, to=TensorProto.FLOAT))
        return self.op("Unsqueeze", self.op("Mul", hidden, self.constant(np.float32(-10000))), self.constant(np.array([1, 2], np.int64)))

    def graph(self):
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)


def gpt(name="decoder", seed=0, vocabulary=None, shared=False):
    """input_ids, position_ids, attention_mask, past_i to logits, present_i [2, batch, heads, length, head size]; `shared`: pasts of the
    final length, and past_sequence_length"""
    b, vocabulary = Builder(name, seed), vocabulary or VOCABULARY
    ids, positions = (b.input(n, ["batch", "length"], TensorProto.INT32) for n in ("input_ids", "position_ids"))
    mask = b.input("attention_mask", ["batch", "total"], TensorProto.INT32)
    past = [b.input(f"past_{i}", [2, "batch", HEADS, "past", HEAD_SIZE]) for i in range(LAYERS)]
    filled = ["", b.input("past_sequence_length", [1], TensorProto.INT32)] if shared else []
    x = b.op("Add", b.embedding(ids, vocabulary), b.embedding(positions, POSITIONS))
    presents = []
    for i in range(LAYERS):
        qkv, bias = b.weight(HIDDEN, 3 * HIDDEN, scale=SCALE), b.weight(3 * HIDDEN, scale=0.1)
        settings = dict(domain="com.microsoft", num_heads=HEADS, unidirectional=1) | ({"past_present_share_buffer": 1} if shared else {})
        mixed, present = b.op("Attention", x, qkv, bias, mask, past[i], *filled, outputs=2, **settings)
        x = b.op("Add", x, b.linear(mixed))
        presents.append(present)
    b.output(b.linear(x, vocabulary), "logits", ["batch", "length", vocabulary])
    for i, present in enumerate(presents):
        b.output(present, f"present_{i}", [2, "batch", HEADS, "total", HEAD_SIZE])
    return b.graph()


def cross_encoder(seed=1, name="encoder"):
    """encoder_input_ids, encoder_attention_mask to present_{key,value}_cross_i"""
    b = Builder(name, seed)
    ids = b.input("encoder_input_ids", ["batch", "source"], TensorProto.INT32)
    mask = b.input("encoder_attention_mask", ["batch", "source"], TensorProto.INT32)
    x = b.embedding(ids, VOCABULARY)
    q, k, v = (b.heads(b.linear(x)) for _ in range(3))
    x = b.op("Add", x, b.linear(b.attention(q, k, v, b.mask_bias(mask))))
    for i in range(LAYERS):
        for part in ("key", "value"):
            b.output(b.heads(b.linear(x)), f"present_{part}_cross_{i}", ["batch", HEADS, "source", HEAD_SIZE])
    return b.graph()


def cross_decoder(seed=2, name="decoder", masked=True, points=False):
    """input_ids, encoder_attention_mask (not for Whisper), past_{key,value}_{self,cross}_i to logits, present_{key,value}_self_i.
    `points`: encoder_input_ids before the mask."""
    b = Builder(name, seed)
    ids = b.input("input_ids", ["batch", 1], TensorProto.INT32)
    source = b.input("encoder_input_ids", ["batch", "source"], TensorProto.INT32) if points else None
    mask = b.input("encoder_attention_mask", ["batch", "source"], TensorProto.INT32) if masked else None
    past = {}
    for kind, length in (("self", "past"), ("cross", "source")):
        for i in range(LAYERS):
            for part in ("key", "value"):
                past[part, kind, i] = b.input(f"past_{part}_{kind}_{i}", ["batch", HEADS, length, HEAD_SIZE])
    x, bias, presents = b.embedding(ids, VOCABULARY), b.mask_bias(mask) if masked else None, []
    position = b.op("Shape", past["key", "self", 0], start=2, end=3)
    x = b.op("Add", x, b.embedding(position, POSITIONS))  # else beams of the same tokens in another order are equal
    if points:
        x = b.op("Add", x, b.op("ReduceMean", b.embedding(source, VOCABULARY), axes=[1], keepdims=1))
    for i in range(LAYERS):
        q, k, v = (b.heads(b.linear(x)) for _ in range(3))
        k, v = (b.op("Concat", past[part, "self", i], new, axis=2) for part, new in (("key", k), ("value", v)))
        presents += [(f"present_key_self_{i}", k), (f"present_value_self_{i}", v)]
        x = b.op("Add", x, b.linear(b.attention(q, k, v)))
        x = b.op("Add", x, b.linear(b.attention(b.heads(b.linear(x)), past["key", "cross", i], past["value", "cross", i], bias)))
    b.output(b.linear(x, VOCABULARY), "logits", ["batch", 1, VOCABULARY])
    for name, value in presents:
        b.output(value, name, ["batch", HEADS, "total", HEAD_SIZE])
    return b.graph()


def decoder_of_buffers(seed=2, masked=True, shared=True):
    """The same with fused attention; `shared`: self-attention in buffers of the final length, with the beams that its tokens are of."""
    b = Builder("decoder", seed)
    ids = b.input("input_ids", ["batch", 1], TensorProto.INT32)
    mask = [b.input("encoder_attention_mask", ["batch", "source"], TensorProto.INT32)] if masked else []
    past = {}
    for kind, length in (("self", "past"), ("cross", "source")):
        for i in range(LAYERS):
            for part in ("key", "value"):
                past[part, kind, i] = b.input(f"past_{part}_{kind}_{i}", ["batch", HEADS, length, HEAD_SIZE])
    more = []
    if shared:
        more = [b.input(name, [1], TensorProto.INT32) for name in ("past_sequence_length", "beam_width")]
        more.append(b.input("cache_indirection", ["items", "beams", "past"], TensorProto.INT32))
    settings = dict(domain="com.microsoft", num_heads=HEADS)
    x, presents = b.embedding(ids, VOCABULARY), []
    for i in range(LAYERS):
        own = [b.linear(x) for _ in range(3)] + [past[part, "self", i] for part in ("key", "value")]
        if shared:
            inputs = [*own[:3], "", "", *own[3:], *more]
            y, key, value = b.op("DecoderMaskedMultiHeadAttention", *inputs, outputs=3, past_present_share_buffer=1, **settings)
        else:
            y, key, value = b.op("MultiHeadAttention", *own[:3], "", "", "", *own[3:], outputs=3, **settings)
        presents += [(f"present_key_self_{i}", key), (f"present_value_self_{i}", value)]
        x = b.op("Add", x, b.linear(y))
        hidden = ["", *mask] if masked else []
        y = b.op("MultiHeadAttention", b.linear(x), past["key", "cross", i], past["value", "cross", i], *hidden, **settings)
        x = b.op("Add", x, b.linear(y))
    b.output(b.linear(x, VOCABULARY), "logits", ["batch", 1, VOCABULARY])
    for name, value in presents:
        b.output(value, name, ["batch", HEADS, "total", HEAD_SIZE])
    return b.graph()


def whisper_encoder(seed=3, name="encoder"):
    """encoder_input_ids, decoder_input_ids to logits, encoder_hidden_states, present_{key,value}_{self,cross}_i"""
    b = Builder(name, seed)
    features = b.input("encoder_input_ids", ["batch", HIDDEN, "source"])
    ids = b.input("decoder_input_ids", ["batch", "length"], TensorProto.INT32)
    states = b.linear(b.op("Transpose", features, perm=[0, 2, 1]))
    cross = [(b.heads(b.linear(states)), b.heads(b.linear(states))) for _ in range(LAYERS)]
    length = b.op("Shape", ids, start=1, end=2)
    far = helper.make_tensor("value", TensorProto.FLOAT, [1], [-1e4])
    hidden = b.op("ConstantOfShape", b.op("Concat", length, length, axis=0), value=far)
    causal, x, own = b.op("Trilu", hidden, b.constant(np.array(1, np.int64)), upper=1), b.embedding(ids, VOCABULARY), []
    for key, value in cross:
        q, k, v = (b.heads(b.linear(x)) for _ in range(3))
        own.append((k, v))
        x = b.op("Add", x, b.linear(b.attention(q, k, v, causal)))
        x = b.op("Add", x, b.linear(b.attention(b.heads(b.linear(x)), key, value)))
    b.output(b.linear(x, VOCABULARY), "logits", ["batch", "length", VOCABULARY])
    b.output(states, "encoder_hidden_states", ["batch", "source", HIDDEN])
    for kind, length, pairs in (("self", "length", own), ("cross", "source", cross)):
        for i, pair in enumerate(pairs):
            for part, value in zip(("key", "value"), pair):
                b.output(value, f"present_{part}_{kind}_{i}", ["batch", HEADS, length, HEAD_SIZE])
    return b.graph()


def model(op_type, feeds, outputs, **attributes):
    """One search over the inputs that `feeds` names. Graph attributes have names of their own; the others are plain."""
    inputs = []
    names = [n.lower() if n.lower() in feeds else "" for n in INPUTS[op_type].split()]
    while not names[-1]:
        names.pop()
    for name in filter(None, names):
        inputs.append(port(name, [f"{name}_{k}" for k in range(feeds[name].ndim)], helper.np_dtype_to_tensor_dtype(feeds[name].dtype)))
    node = helper.make_node(op_type, names, [o or "" for o in outputs], "search", domain="com.microsoft", **attributes)
    rank = {
        "sequences": 2 if op_type in ("GreedySearch", "Sampling") else 3,
        "sequences_scores": 2,
        "scores": 4,
        "filtered_logits": 2,
        "non_speech_probs": 1,
    }
    ports = []
    for o in filter(None, outputs):
        element = TensorProto.INT32 if o == "sequences" else TensorProto.FLOAT
        ports.append(port(o, [f"{o}_{k}" for k in range(rank.get(o, 2))], element))
    graph = helper.make_graph([node], "generation", inputs, ports)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=9)
    onnx.checker.check_model(made)
    return made.SerializeToString()
