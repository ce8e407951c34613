"""Arrays of every ONNX element type, plain ones and ones that hold what trips kernels."""

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

FLOATS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16}
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38, -3e38, 6e4]
WORDS = ["", "a", "B c", "naïve", "ÅNGSTRÖM", "x" * 40, "0", "-7.5", "\t", "日本"]


class Sparse:
    """A matrix of which a sparse tensor keeps the elements that are not zero, in `layout` "coo" or "csr"."""

    def __init__(self, dense: np.ndarray, layout: str):
        self.dense, self.layout, self.shape, self.dtype = dense, layout, dense.shape, dense.dtype

    def __repr__(self):
        return f"{self.layout} {self.dense}"

    def ort_value(self, module):
        """Of a module that has the API of onnxruntime."""
        return module.OrtValue.ort_value_from_sparse_tensor(self.tensor(module))

    def tensor(self, module):
        made, device = module.SparseTensor, module.OrtDevice.make("cpu", 0)
        rows, columns = np.nonzero(self.dense)
        values, shape = self.dense[rows, columns], np.array(self.shape, np.int64)
        if self.layout == "csr":
            outer = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.shape[0]))])
            return made.sparse_csr_from_numpy(shape, values, columns.astype(np.int64), outer.astype(np.int64), device)
        return made.sparse_coo_from_numpy(shape, values, np.stack([rows, columns], 1).astype(np.int64), device)


def numpy_type(number: int) -> np.dtype:
    return np.dtype(helper.tensor_dtype_to_np_dtype(number))


def is_floating(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or (dtype.type.__module__.startswith("ml_dtypes") and "int" not in dtype.name)


def limits(dtype: np.dtype) -> tuple[int, int]:
    info = ml_dtypes.iinfo(dtype) if dtype.type.__module__.startswith("ml_dtypes") else np.iinfo(dtype)
    return int(info.min), int(info.max)


def array(number: int, shape, rng: np.random.Generator, low=-4.0, high=4.0) -> np.ndarray:
    """Values of a type in [low, high], as far as it has them."""
    dtype = numpy_type(number)
    if number == TensorProto.STRING:
        return rng.choice(np.array(WORDS, dtype=object), shape).astype(object)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind == "c":
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    if is_floating(dtype):
        return np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    smallest, largest = limits(dtype)
    bounds = max(int(np.ceil(low)), smallest), min(int(np.floor(high)), largest)
    return np.asarray(rng.integers(bounds[0], max(bounds) + 1, shape, dtype=np.int64)).astype(dtype)


def with_specials(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy with a few elements replaced by NaN, infinities, denormals, extremes."""
    values = values.copy()
    flat = values.reshape(-1)
    for _ in range(min(flat.size, int(rng.integers(1, 4)))):
        at = int(rng.integers(flat.size))
        with np.errstate(all="ignore"):
            if is_floating(values.dtype):
                flat[at] = values.dtype.type(SPECIAL[int(rng.integers(len(SPECIAL)))])
            elif values.dtype.kind in "iu" or values.dtype.type.__module__.startswith("ml_dtypes"):
                flat[at] = limits(values.dtype)[int(rng.integers(2))]
    return values
