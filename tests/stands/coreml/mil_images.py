"""Operators of Core ML's programs on images in numpy (mil_numpy.py)."""

import numpy as np


def depth_to_space(x, block_size):
    n, c, h, w = x.shape
    b = int(block_size)
    return x.reshape(n, b, b, c // b // b, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)


def pixel_shuffle(x, upscale_factor):
    n, c, h, w = x.shape
    b = int(upscale_factor)
    return x.reshape(n, c // b // b, b, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // b // b, h * b, w * b)


def space_to_depth(x, block_size):
    n, c, h, w = x.shape
    b = int(block_size)
    return x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


def upsample_nearest_neighbor(x, scale_factor_height, scale_factor_width):
    return x.repeat(int(scale_factor_height), -2).repeat(int(scale_factor_width), -1)


def points(size, count, mode):
    """Where a linear sampling takes `count` points of an axis."""
    i = np.arange(count, dtype="f8")
    at = {
        "STRICT_ALIGN_CORNERS": lambda: i * (size - 1) / (count - 1),
        "DEFAULT": lambda: i * (size - size / count) / (count - 1),
        "UNALIGN_CORNERS": lambda: (i + 0.5) * size / count - 0.5,
    }[mode]()
    return np.clip(at, 0, size - 1)


def along(x, at, axis):
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    weight = (at - low).reshape(-1, *[1] * (-1 - axis))
    return np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight


def resize_bilinear(x, target_size_height, target_size_width, sampling_mode):
    wide = along(x.astype("f8"), points(x.shape[-2], int(target_size_height), sampling_mode), -2)
    return along(wide, points(x.shape[-1], int(target_size_width), sampling_mode), -1).astype(x.dtype)


def pixels(x, row, column, padding_mode):
    """Those of [C, H, W] at whole positions, which may lie outside."""
    height, width = x.shape[1:]
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    found = x[:, np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
    return found * inside if padding_mode == "constant" else found


def reflected(at, size):
    if size == 1:
        return np.zeros_like(at)
    period = 2 * (size - 1)
    at = np.abs(at) % period
    return np.where(at > size - 1, period - at, at)


def resample(x, coordinates, sampling_mode, padding_mode, padding_value, coordinates_mode, align_corners):
    assert sampling_mode == "bilinear" and padding_value == 0 and coordinates_mode == "normalized_minus_one_to_one"
    assert x.ndim == coordinates.ndim == 4 and coordinates.shape[-1] == 2
    height, width = x.shape[2:]
    at = []
    for axis, size in ((1, height), (0, width)):
        given = coordinates[..., axis].astype("f8")
        place = (given + 1) / 2 * (size - 1) if align_corners else ((given + 1) * size - 1) / 2
        if padding_mode == "border":
            place = np.clip(place, 0, size - 1)
        if padding_mode == "reflection":
            place = reflected(place, size)
        at.append(place)
    results = []
    for image, row, column in zip(x.astype("f8"), *at):
        top, left = np.floor(row).astype(int), np.floor(column).astype(int)
        total = 0
        for r, by_row in ((top, 1 - (row - top)), (top + 1, row - top)):
            for c, by_column in ((left, 1 - (column - left)), (left + 1, column - left)):
                total = total + pixels(image, r, c, padding_mode) * by_row * by_column
        results.append(total)
    return np.stack(results).astype(x.dtype)


OPERATORS = {f.__name__: f for f in (depth_to_space, pixel_shuffle, resample, resize_bilinear, space_to_depth, upsample_nearest_neighbor)}
