"""Operators with windows and strides, of every size that may not fit, over axes of 0, 1 and 2 elements."""

import itertools

import numpy as np
from edge_cell import ENDS, MICROSOFT, Cell, values, whole

PADS = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 2), "SAME_UPPER", "SAME_LOWER", "VALID")


def windows(rank=1, kernels=(1, 2, 3), dilations=(1, 2), pads=PADS):
    """Window attributes that vary along the first spatial axis; along others the window is 2 wide."""
    rest = rank - 1
    for kernel, stride, dilation, pad in itertools.product(kernels, (1, 2, 3), dilations, pads):
        if isinstance(pad, str):
            if dilation == 1:
                yield {"kernel_shape": [kernel] + [2] * rest, "strides": [stride] + [1] * rest, "auto_pad": pad}
            continue
        window = {
            "kernel_shape": [kernel] + [2] * rest,
            "strides": [stride] + [1] * rest,
            "pads": [pad[0], *[0] * rest, pad[1], *[0] * rest],
        }
        yield window | ({"dilations": [dilation] + [1] * rest} if dilation > 1 else {})


def pools():
    for rank, n in itertools.product((1, 2), ENDS):
        x = values(1, 2, n, *[3] * (rank - 1))
        for window, ceil in itertools.product(windows(rank), (None, 1)):
            yield Cell("MaxPool", [x], 2, ceil_mode=ceil, **window)
            yield Cell("LpPool", [x], ceil_mode=ceil, **window)
            for counted in (None, 1):
                yield Cell("AveragePool", [x], opset=19, ceil_mode=ceil, count_include_pad=counted, **window)
    for window in windows(1, dilations=(1,)):
        yield Cell("MaxPool", [values(0, 2, 2)], 2, **window)
        yield Cell("AveragePool", [values(1, 0, 2)], **window)
        yield Cell("MaxPool", [values(1, 2, 2, dtype=np.uint8)], opset=12, **window)
        yield Cell("MaxPool", [values(1, 2, 2)], opset=7, **{k: v for k, v in window.items() if k != "dilations"})


def global_pools():
    for op, n, m in itertools.product(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), ENDS, ENDS):
        for shape in ([1, 2, n, m], [n, m, 2], [1, 2, n]):
            yield Cell(op, [values(*shape)])


def convolutions():
    for rank, n in itertools.product((1, 2), ENDS):
        rest = [3] * (rank - 1)
        for window in windows(rank):
            x = values(1, 2, n, *rest)
            yield Cell("Conv", [x, values(3, 2, *window["kernel_shape"])], **window)
            yield Cell("Conv", [x, values(3, 2, *window["kernel_shape"])], constant=(1,), **window)
            yield Cell("Conv", [x, values(4, 1, *window["kernel_shape"]), values(4)], constant=(1, 2), group=2, **window)
            yield Cell("ConvTranspose", [x, values(2, 3, *window["kernel_shape"]), values(3)], **window)
        for window in windows(rank, dilations=(1,)):
            bytes_ = [values(1, 2, n, *rest, dtype=np.uint8), values(3, 2, *window["kernel_shape"], dtype=np.uint8)]
            yield Cell("ConvInteger", bytes_, **window)
            scale, zero = np.float32(0.5), np.uint8(1)
            yield Cell("QLinearConv", [bytes_[0], scale, zero, bytes_[1], scale, zero, np.float32(2), zero], constant=(3, 4, 5), **window)
    for batch, inner, outer in itertools.product((0, 1), ENDS, ENDS):
        yield Cell("Conv", [values(batch, inner, 2, 2), values(outer, inner, 1, 1)])
        yield Cell("Conv", [values(batch, inner, 3, 3), values(outer, inner, 2, 2), values(outer)], constant=(1, 2))
        yield Cell("ConvTranspose", [values(batch, inner, 2, 2), values(inner, outer, 2, 2)])


def transposed_sizes():
    for n, stride, padding, size in itertools.product(ENDS, (1, 2, 3), (None, [0], [1], [2]), (None, [1], [2], [5])):
        yield Cell("ConvTranspose", [values(1, 2, n), values(2, 1, 2)], strides=[stride], output_padding=padding, output_shape=size)


def patches():
    for n, m, block in itertools.product(ENDS, ENDS, (1, 2)):
        yield Cell("SpaceToDepth", [values(1, 1, n, m)], blocksize=block)
        yield Cell("DepthToSpace", [values(1, 4, n, m)], blocksize=block)
        yield Cell("DepthToSpace", [values(n, 4, m, 1)], blocksize=block, mode="CRD")
    for channels, size in itertools.product(ENDS, (1, 2, 3, 5)):
        yield Cell("LRN", [values(1, channels, 2, 2)], size=size)
    for image, block, stride, pad in itertools.product(ENDS, (1, 2), (1, 2), (0, 1)):
        blocks = max(0, (image + 2 * pad - block) // stride + 1)
        yield Cell("Col2Im", [values(1, 2 * block, blocks), whole(image), whole(block)], strides=[stride], pads=[pad, pad])
    for n, window in itertools.product(ENDS, windows(1, dilations=(1,), pads=((0, 0), (1, 0), (1, 1)))):
        size = max(0, n)
        yield Cell("MaxUnpool", [values(1, 1, size), np.arange(size, dtype=np.int64).reshape(1, 1, size)], **window)


def regions():
    for count, n in itertools.product(ENDS, ENDS):
        boxes = np.array([[0, 0, 1, 1], [0, 0, 0, 0]], np.float32)[:count]
        for mode, ratio in itertools.product(("avg", "max"), (0, 2)):
            yield Cell(
                "RoiAlign",
                [values(1, 2, n, 2), boxes, np.zeros(count, np.int64)],
                mode=mode,
                sampling_ratio=ratio,
                output_height=2,
                output_width=1,
            )
        yield Cell("MaxRoiPool", [values(1, 2, n, 2), np.c_[np.zeros(count, np.float32), boxes]], pooled_shape=[2, 1])
        grid = values(1, count, 2, 2) / 4
        for mode, padding in itertools.product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection")):
            yield Cell("GridSample", [values(1, 2, n, 2), grid], opset=20, mode=mode, padding_mode=padding)
        for corners in (0, 1):
            yield Cell("AffineGrid", [values(1, 2, 3), whole(1, 1, n, count)], opset=20, align_corners=corners)
    for n, kernel, pad in itertools.product(ENDS, (1, 2), (0, 1)):
        out = max(0, n + 2 * pad - kernel + 1)
        offsets = values(1, 2 * kernel * kernel, out, out) / 8
        yield Cell("DeformConv", [values(1, 1, n, n), values(1, 1, kernel, kernel), offsets], opset=19, pads=[pad] * 4)


def resizing():
    modes = ("nearest", "linear", "cubic")
    for n, size, mode, where in itertools.product(ENDS, ENDS, modes, ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")):
        yield Cell("Resize", [values(1, 1, n, 2), None, None, whole(1, 1, size, 2)], mode=mode, coordinate_transformation_mode=where)
        yield Cell(
            "Resize", [values(1, 1, n, 2), None, None, whole(1, 1, size, 2)], constant=(3,), mode=mode, coordinate_transformation_mode=where
        )
    for n, scale, mode, anti in itertools.product(ENDS, (0.3, 0.5, 1.0, 1.6, 2.0), modes, (None, 1)):
        yield Cell(
            "Resize",
            [values(1, 1, n, 2), None, np.array([1, 1, scale, 1], np.float32)],
            mode=mode,
            antialias=None if mode == "nearest" else anti,
        )
    for n, scale in itertools.product(ENDS, (1.0, 1.6, 2.0)):
        yield Cell("Upsample", [values(1, 1, n, 2), np.array([1, 1, scale, 1], np.float32)], opset=9, mode="nearest")


def signals():
    for n, length, onesided, inverse in itertools.product(ENDS, (None, *ENDS), (0, 1), (0, 1)):
        inputs = [values(1, n, 1)] + ([np.array(length, np.int64)] if length is not None else [])
        if not (onesided and inverse):
            yield Cell("DFT", inputs, opset=17, axis=1, onesided=onesided, inverse=inverse)
    for n, step, length in itertools.product((0, 1, 2, 3), (1, 2), (1, 2)):
        yield Cell("STFT", [values(1, n, 1), np.array(step, np.int64), None, np.array(length, np.int64)], opset=17)
        yield Cell("STFT", [values(1, n, 1), np.array(step, np.int64), values(length)], opset=17)
    for op, n, periodic in itertools.product(("HannWindow", "HammingWindow", "BlackmanWindow"), (0, 1, 2, 3), (0, 1)):
        yield Cell(op, [np.array(n, np.int64)], opset=17, periodic=periodic)
        yield Cell(op, [np.array(n, np.int64)], opset=17, periodic=periodic, constant=(0,))


def contributed():
    for n, window in itertools.product(ENDS, windows(2)):
        if "dilations" in window:
            continue
        x, scale, zero = values(1, 2, n, 3, dtype=np.uint8), np.float32(0.5), np.uint8(1)
        yield Cell("QLinearAveragePool", [x, scale, zero, scale, zero], domain=MICROSOFT, **window)
        yield Cell("FusedConv", [values(1, 2, n, 3), values(1, 2, *window["kernel_shape"])], domain=MICROSOFT, activation="Relu", **window)
        yield Cell("NhwcMaxPool", [values(1, n, 3, 2, dtype=np.uint8)], domain=MICROSOFT, **window)
    for n, window in itertools.product(ENDS, windows(2, dilations=(1,), pads=((0, 0), (1, 1)))):
        yield Cell("MaxpoolWithMask", [values(1, 1, n, 3), np.ones((1, 1, n, 3), np.int32)], domain=MICROSOFT, **window)
    for n, m in itertools.product(ENDS, ENDS):
        scale, zero = np.float32(0.5), np.uint8(1)
        yield Cell(
            "QLinearGlobalAveragePool", [values(1, 2, n, m, dtype=np.uint8), scale, zero, scale, zero], domain=MICROSOFT, channels_last=0
        )


ROWS = [pools, global_pools, convolutions, transposed_sizes, patches, regions, resizing, signals, contributed]
