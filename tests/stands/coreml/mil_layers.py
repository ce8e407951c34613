"""Convolutions, pools and normalisations of Core ML's programs in numpy (mil_numpy.py)."""

import itertools

import numpy as np


def pairs_of(pad, pad_type, spatial):
    assert pad_type == "custom" and len(pad) == 2 * spatial and (pad >= 0).all(), (pad_type, pad)
    return [(int(pad[2 * i]), int(pad[2 * i + 1])) for i in range(spatial)]


def windows(x, kernel, strides, dilations, pairs, value):
    """An array whose last axes are the elements under the window at each place: [N, C, places..., kernel...]."""
    x = np.pad(x, [(0, 0), (0, 0), *pairs], constant_values=value)
    n = len(kernel)
    reach = [(int(k) - 1) * int(d) + 1 for k, d in zip(kernel, dilations)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + n)))
    places = tuple(slice(None, None, int(s)) for s in strides)
    return view[(slice(None), slice(None), *places, *(slice(None, None, int(d)) for d in dilations))]


def conv(x, weight, strides, pad_type, pad, dilations, groups, bias=None):
    n = weight.ndim - 2
    assert x.dtype == weight.dtype and x.shape[1] == weight.shape[1] * groups and weight.shape[0] % groups == 0
    view = windows(x.astype("f4"), weight.shape[2:], strides, dilations, pairs_of(pad, pad_type, n), 0)
    parts = []
    each_in, each_out = weight.shape[1], weight.shape[0] // int(groups)
    if each_in == 1 and each_out == 1:  # each channel by itself
        axes = "defghij"[:n]
        result = np.einsum(f"nc{'uvw'[:n]}{axes},c{axes}->nc{'uvw'[:n]}", view, weight[:, 0].astype("f4"))
    else:
        for g in range(int(groups)):
            part = view[:, g * each_in : (g + 1) * each_in]
            own = weight[g * each_out : (g + 1) * each_out].astype("f4")
            places = part.shape[2 : 2 + n]
            rows = np.moveaxis(part, 1, 1 + n).reshape(part.shape[0], -1, each_in * int(np.prod(weight.shape[2:])))
            parts.append(np.moveaxis(rows @ own.reshape(each_out, -1).T, 2, 1).reshape(part.shape[0], each_out, *places))
        result = np.concatenate(parts, 1)
    if bias is not None:
        assert bias.shape == (weight.shape[0],)
        result = result + bias.astype("f4").reshape(-1, *[1] * n)
    return result.astype(x.dtype)


def conv_transpose(x, weight, strides, pad_type, pad, dilations, groups, bias=None):
    n, groups = weight.ndim - 2, int(groups)
    assert x.shape[1] == weight.shape[0] and x.shape[1] % groups == 0
    kernel, each_in, each_out = weight.shape[2:], x.shape[1] // groups, weight.shape[1]
    reach = [(x.shape[2 + i] - 1) * int(strides[i]) + (kernel[i] - 1) * int(dilations[i]) + 1 for i in range(n)]
    result = np.zeros((x.shape[0], each_out * groups, *reach), "f8")
    for g in range(groups):
        part = x[:, g * each_in : (g + 1) * each_in].astype("f8")
        for at in itertools.product(*map(range, kernel)):
            own = weight[(slice(g * each_in, (g + 1) * each_in), slice(None), *at)].astype("f8")
            places = tuple(
                slice(at[i] * int(dilations[i]), at[i] * int(dilations[i]) + (x.shape[2 + i] - 1) * int(strides[i]) + 1, int(strides[i]))
                for i in range(n)
            )
            result[(slice(None), slice(g * each_out, (g + 1) * each_out), *places)] += np.moveaxis(np.tensordot(part, own, (1, 0)), -1, 1)
    pairs = pairs_of(pad, pad_type, n)
    result = result[(slice(None), slice(None), *(slice(b, size - e) for (b, e), size in zip(pairs, reach)))]
    if bias is not None:
        result = result + bias.reshape(-1, *[1] * n)
    return result.astype(x.dtype)


def max_pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode):
    assert not ceil_mode
    n = len(kernel_sizes)
    view = windows(x, kernel_sizes, strides, [1] * n, pairs_of(pad, pad_type, n), -np.inf)
    return view.max(axis=tuple(range(-n, 0)))


def avg_pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode, exclude_padding_from_average):
    assert not ceil_mode
    n, pairs = len(kernel_sizes), pairs_of(pad, pad_type, len(kernel_sizes))
    axes = tuple(range(-n, 0))
    sums = windows(x.astype("f8"), kernel_sizes, strides, [1] * n, pairs, 0).sum(axis=axes)
    if exclude_padding_from_average:
        counts = windows(np.ones_like(x, "f8"), kernel_sizes, strides, [1] * n, pairs, 0).sum(axis=axes)
    else:
        counts = int(np.prod(kernel_sizes))
    return (sums / counts).astype(x.dtype)


def by_channel(value, x):
    assert value.shape == (x.shape[1],)
    return value.astype("f8").reshape(-1, *[1] * (x.ndim - 2))


def batch_norm(x, mean, variance, gamma, beta, epsilon):
    assert x.ndim >= 3
    scale = by_channel(gamma, x) / np.sqrt(by_channel(variance, x) + float(epsilon))
    return ((x - by_channel(mean, x)) * scale + by_channel(beta, x)).astype(x.dtype)


def normalized(x, axes, epsilon):
    wide = x.astype("f8")
    mean = wide.mean(axis=axes, keepdims=True)
    return (wide - mean) / np.sqrt(wide.var(axis=axes, keepdims=True) + float(epsilon))


def instance_norm(x, gamma, beta, epsilon):
    assert 3 <= x.ndim <= 4
    return (normalized(x, tuple(range(2, x.ndim)), epsilon) * by_channel(gamma, x) + by_channel(beta, x)).astype(x.dtype)


def layer_norm(x, axes, epsilon, gamma=None, beta=None):
    axes = tuple(int(a) for a in axes)
    result = normalized(x, axes, epsilon)
    for value in (gamma, beta):
        assert value is None or value.shape == tuple(x.shape[a] for a in axes)
    if gamma is not None:
        result = result * gamma
    return (result if beta is None else result + beta).astype(x.dtype)


def local_response_norm(x, size, alpha, beta, k):
    assert 3 <= x.ndim <= 4 and size % 2 == 1
    half = int(size) // 2
    squares = np.pad(np.square(x.astype("f8")), [(0, 0), (half, half)] + [(0, 0)] * (x.ndim - 2))
    sums = sum(squares[:, i : i + x.shape[1]] for i in range(int(size)))
    return (x / (float(k) + float(alpha) / int(size) * sums) ** float(beta)).astype(x.dtype)


OPERATORS = {f.__name__: f for f in (avg_pool, batch_norm, conv, conv_transpose, instance_norm, layer_norm, local_response_norm, max_pool)}
