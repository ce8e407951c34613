"""Generated nodes of attention: with heads packed or apart, biases, masks of all forms, pasts that grow or stay where they are."""

import numpy as np
from draws import MICROSOFT, Drawn


def trimmed(inputs):
    while inputs[-1] is None:
        inputs.pop()
    return inputs


def numbers(d, shape):
    return d.floats(shape, scale=1.0)


def scalar(d, value):
    value = np.array([value] if d.chance(0.5) else value, np.int32)
    return d.maybe_fixed(value)


def scaled(d, **attributes):
    return {name: value for name, value in attributes.items() if value is not None} | ({"scale": 0.3} if d.chance(0.3) else {})


def contributed_mask(d, batch, length, past, keys):
    """int32: ends, ends and starts, or where keys are seen."""
    form = d.pick(["ends", "ranges", "lengths", "keys", "all", "square", "one", None])
    bits = lambda *shape: d.rng.integers(0, 2, shape).astype(np.int32)  # noqa: E731
    if form in ("ends", "ranges"):
        ends = d.rng.integers(1, keys + 1, batch)
        return np.concatenate([ends, d.rng.integers(0, ends)] if form == "ranges" else [ends]).astype(np.int32)
    if form == "lengths":
        return np.concatenate([d.rng.integers(1, keys + 1, batch), d.rng.integers(0, 5, 2 * batch + 2)]).astype(np.int32)
    if form == "square":
        size = past + length + d.number(0, 2)
        return bits(batch, 1, size, size) if size >= keys else None
    return {"keys": bits(batch, keys), "all": bits(batch, length, keys), "one": np.ones((batch, 1), np.int32), None: None}[form]


def added(d, batch, heads, length, keys):
    return numbers(d, (d.pick([1, batch]), d.pick([1, heads]), length, keys)) if d.chance(0.3) else None


def many_heads(d):
    """MultiHeadAttention."""
    batch, heads, length, depth = d.number(1, 2), d.number(1, 3), d.number(1, 4), d.pick([2, 4, 8])
    form = d.pick(["packed", "keys packed", "apart", "apart", "heads"])
    keys = length if form == "packed" else d.number(1, 5)
    value_depth = depth if form != "apart" or d.chance(0.6) else d.pick([2, 6])
    attributes = scaled(d, num_heads=heads, unidirectional=d.pick([0, 0, 1]), mask_filter_value=d.pick([None, -100.0]))
    q, k, v = (batch, length, heads * depth), (batch, keys, heads * depth), (batch, keys, heads * value_depth)
    if form == "packed":
        inputs = [numbers(d, (batch, length, heads, 3, depth)), None, None]
    elif form == "keys packed":
        inputs = [numbers(d, q), numbers(d, (batch, keys, heads, 2, depth)), None]
    elif form == "heads":
        inputs = [numbers(d, q), *(numbers(d, (batch, heads, keys, depth)) for _ in range(2))]
    else:
        inputs = [numbers(d, q), numbers(d, k), numbers(d, v)]
    inputs.append(d.maybe_fixed(numbers(d, heads * (2 * depth + value_depth))) if d.chance(0.4) else None)
    past = d.pick([None, None, "grows", "stays"])
    held = d.number(0, 4) if past else 0
    room = held if past != "stays" else held + keys + d.number(0, 2)
    all_keys = held + keys
    inputs += [contributed_mask(d, batch, length, held, all_keys), added(d, batch, heads, length, all_keys)]
    if past:
        inputs += [numbers(d, (batch, heads, room, size)) for size in (depth, value_depth)]
        if past == "stays":
            inputs.append(scalar(d, held))
    return Drawn("MultiHeadAttention", trimmed(inputs), attributes, d.pick([1, 3, 3]), 17, MICROSOFT)


def projected(d):
    """Attention of com.microsoft."""
    batch, heads, length, depth, width = d.number(1, 2), d.number(1, 3), d.number(1, 4), d.pick([2, 4, 8]), d.number(1, 6)
    past = d.pick([None, None, "grows", "stays"])
    value_depth = depth if past or d.chance(0.6) else d.pick([2, 6])
    sizes = [heads * depth, heads * depth, heads * value_depth]
    attributes = scaled(d, num_heads=heads, unidirectional=d.pick([0, 1]), mask_filter_value=d.pick([None, -100.0]))
    if value_depth != depth or d.chance(0.3):
        attributes["qkv_hidden_sizes"] = sizes
    inputs = [numbers(d, (batch, length, width)), d.maybe_fixed(numbers(d, (width, sum(sizes))))]
    inputs.append(d.maybe_fixed(numbers(d, sum(sizes))) if d.chance(0.7) else None)
    held = d.number(0, 4) if past else 0
    keys = held + length
    inputs.append(contributed_mask(d, batch, length, held, keys))
    inputs.append(numbers(d, (2, batch, heads, held if past == "grows" else keys + d.number(0, 2), depth)) if past else None)
    inputs.append(added(d, batch, heads, length, keys))
    if past == "stays":
        attributes["past_present_share_buffer"] = 1
        inputs.append(scalar(d, held))
    return Drawn("Attention", trimmed(inputs), attributes, 2 if past or (value_depth == depth and d.chance(0.3)) else 1, 17, MICROSOFT)


def grouped(d):
    """GroupQueryAttention."""
    batch, kv_heads, length, depth = d.number(1, 3), d.number(1, 2), d.number(1, 4), d.pick([2, 4, 8])
    heads, past = kv_heads * d.number(1, 3), d.pick([None, "grows", "stays"])
    held = d.number(0, 5) if past else 0
    total = held + length
    attributes = scaled(d, num_heads=heads, kv_num_heads=kv_heads, softcap=d.pick([None, 2.0]), smooth_softmax=d.pick([None, None, 1]))
    if d.chance(0.4):
        attributes["local_window_size"] = d.number(1, 5)
    row = (batch, length, kv_heads * depth)
    if d.chance(0.4):
        inputs = [numbers(d, (batch, length, (heads + 2 * kv_heads) * depth)), None, None]
    else:
        inputs = [numbers(d, (batch, length, heads * depth)), numbers(d, row), numbers(d, row)]
    room = held if past != "stays" else total + d.number(0, 3)
    inputs += [numbers(d, (batch, kv_heads, room, depth)) for _ in range(2)] if past else [None, None]
    ends = np.full(batch, total - 1) if held == 0 or d.chance(0.4) else d.rng.integers(length - 1, total, batch)
    inputs += [ends.astype(np.int32), scalar(d, total)]
    if d.chance(0.6):
        half = d.pick([depth // 2, depth // 2, 1])
        angles = d.rng.random((total + d.number(0, 3), half)) * 6
        attributes |= {"do_rotary": 1, "rotary_interleaved": d.number(0, 1)}
        inputs += [d.maybe_fixed(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]
        inputs.append(d.rng.integers(0, total, (batch, length)) if d.chance(0.3) else None)
    else:
        inputs += [None] * 3
    inputs.append(added(d, batch, heads, length, total))
    inputs.append(d.maybe_fixed(numbers(d, heads)) if d.chance(0.3) else None)
    return Drawn("GroupQueryAttention", trimmed(inputs), attributes, d.pick([1, 3, 3]), 17, MICROSOFT)


def standard(d):
    """Attention of ai.onnx."""
    batch, kv_heads, length, keys, depth = d.number(1, 2), d.number(1, 2), d.number(1, 4), d.number(1, 5), d.pick([2, 4, 8])
    heads, value_depth, held, opset = kv_heads * d.number(1, 3), d.pick([2, 4, 8]), d.pick([None, None, 0, 3]), d.pick([23, 24])
    attributes = scaled(d, is_causal=d.number(0, 1), softcap=d.pick([None, 2.0]))
    sides = [(heads, length, depth), (kv_heads, keys, depth), (kv_heads, keys, value_depth)]
    if d.chance(0.5):
        inputs = [numbers(d, (batch, *side)) for side in sides]
    else:
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
        inputs = [numbers(d, (batch, rows, n * columns)) for n, rows, columns in sides]
    all_keys = keys + (held or 0)
    shape = d.pick([(length, all_keys), (batch, 1, length, all_keys), (batch, heads, length, all_keys), (1, 1, 1, all_keys)])
    inputs.append(d.pick([None, numbers(d, shape), np.asarray(d.rng.random(shape) < 0.7)]))
    if held is not None:
        inputs += [numbers(d, (batch, kv_heads, held, size)) for size in (depth, value_depth)]
    return Drawn("Attention", trimmed(inputs), attributes, 3 if held is not None or d.chance(0.3) else 1, opset)


def attention(d):
    return d.pick([many_heads, projected, grouped, standard])(d)


FAMILIES = {"attention": attention}
