"""Compares what a runtime gave with what a backend case expects, by the rules of the suite's own runner."""

import numpy as np


class Mismatch(Exception):
    pass


def is_text(array):
    return array.dtype.kind in "OUST"


def comparable(array):
    """Types that numpy cannot compute with, widened without loss."""
    if array.dtype.kind == "V" or array.dtype.type.__module__.startswith("ml_dtypes"):
        return array.astype(np.int64 if "int" in array.dtype.name else np.float32)
    return array


def describe(x):
    return f"array {x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else "None" if x is None else type(x).__name__


def compare(expected, actual, rtol, atol, where="output"):
    """Raises Mismatch where the values differ by more than the case allows."""
    if expected is None or actual is None:
        if expected is not actual:
            raise Mismatch(f"{where}: got {describe(actual)}, expected {describe(expected)}")
    elif isinstance(expected, (list, tuple)):
        compare_lists(expected, actual, rtol, atol, where)
    elif isinstance(expected, dict):
        compare_maps(expected, actual, rtol, atol, where)
    elif not isinstance(actual, (np.ndarray, np.generic)):
        raise Mismatch(f"{where}: got {describe(actual)}, expected an array")
    else:
        compare_arrays(expected, np.asarray(actual), rtol, atol, where)


def compare_lists(expected, actual, rtol, atol, where):
    if not isinstance(actual, (list, tuple)):
        raise Mismatch(f"{where}: got {describe(actual)}, expected a list")
    if len(actual) != len(expected):
        raise Mismatch(f"{where}: {len(actual)} elements, expected {len(expected)}")
    for i, (e, a) in enumerate(zip(expected, actual)):
        compare(e, a, rtol, atol, f"{where}[{i}]")


def compare_maps(expected, actual, rtol, atol, where):
    if not isinstance(actual, dict) or sorted(map(str, actual)) != sorted(map(str, expected)):
        raise Mismatch(f"{where}: map keys differ")
    for key in expected:
        compare(np.asarray(expected[key]), np.asarray(actual[key]), rtol, atol, f"{where}[{key!r}]")


def compare_arrays(expected, actual, rtol, atol, where):
    if actual.shape != expected.shape:
        raise Mismatch(f"{where}: shape {actual.shape}, expected {expected.shape}")
    if is_text(expected):
        compare_texts(expected, actual, where)
        return
    if actual.dtype != expected.dtype:
        raise Mismatch(f"{where}: dtype {actual.dtype}, expected {expected.dtype}")
    if expected.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)
    a, e = comparable(actual), comparable(expected)
    with np.errstate(all="ignore"):
        bad = ~np.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0]) if a.ndim else ()
        raise Mismatch(f"{where}: {int(bad.sum())}/{a.size} values differ, first at {list(first)}: {a[first]!s}, expected {e[first]!s}")


def compare_texts(expected, actual, where):
    def decode(s):
        return s.decode("utf-8", "replace") if isinstance(s, bytes) else str(s)

    if not is_text(actual):
        raise Mismatch(f"{where}: dtype {actual.dtype}, expected strings")
    for i, (a, e) in enumerate(zip(actual.ravel(), expected.ravel())):
        if decode(a) != decode(e):
            raise Mismatch(f"{where}: string {i} is {decode(a)!r}, expected {decode(e)!r}")
