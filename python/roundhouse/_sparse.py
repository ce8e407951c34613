"""Tensors of which only the elements that are not zero are kept."""

import numpy as np

from roundhouse import _native
from roundhouse._device import OrtDevice
from roundhouse._native import OrtValue
from roundhouse._types import OrtSparseFormat

__all__ = ["SparseTensor"]

_COO, _CSR_INNER, _CSR_OUTER, _BLOCKS = range(4)  # OrtSparseIndicesFormat


class _View:
    """A sparse tensor by its indices of one format."""

    def __init__(self, value: OrtValue):
        self._value = value


class SparseCooView(_View):
    def indices(self) -> np.ndarray:
        """[nnz] places in the flattened tensor, or [nnz, 2] rows and columns, as they were given."""
        return _native._sparse_indices(self._value, _COO)


class SparseCsrView(_View):
    def inner(self) -> np.ndarray:
        """The column of each value."""
        return _native._sparse_indices(self._value, _CSR_INNER)

    def outer(self) -> np.ndarray:
        """Where each row's values begin, and where the last one's end."""
        return _native._sparse_indices(self._value, _CSR_OUTER)


class SparseBlockSparseView(_View):
    def indices(self) -> np.ndarray:
        """[2, blocks]: rows and columns of blocks."""
        return _native._sparse_indices(self._value, _BLOCKS)


class SparseTensor:
    """A sparse tensor of numbers in host memory. It borrows the arrays it is made from where they are contiguous."""

    def __init__(self, sparse_tensor):
        self._value = sparse_tensor._value if isinstance(sparse_tensor, SparseTensor) else sparse_tensor
        if not self._value.is_sparse_tensor():
            raise RuntimeError(f"the OrtValue is a {self._value.data_type()}, expected a sparse tensor")

    def _get_c_tensor(self) -> "SparseTensor":
        return self

    @property
    def _tensor(self) -> "SparseTensor":
        return self

    @staticmethod
    def sparse_coo_from_numpy(dense_shape, values: np.ndarray, coo_indices: np.ndarray, ort_device: OrtDevice) -> "SparseTensor":
        """`coo_indices`: [nnz] places in the flattened tensor, or [nnz, 2] (flat or not) rows and columns."""
        _expect_host(ort_device)
        return SparseTensor(_native._sparse_coo(dense_shape, values, coo_indices))

    @staticmethod
    def sparse_csr_from_numpy(
        dense_shape, values: np.ndarray, inner_indices: np.ndarray, outer_indices: np.ndarray, ort_device: OrtDevice
    ) -> "SparseTensor":
        """`inner_indices`: the column of each value; `outer_indices`: where each row's values begin, and where the last one's end."""
        _expect_host(ort_device)
        return SparseTensor(_native._sparse_csr(dense_shape, values, inner_indices, outer_indices))

    @staticmethod
    def blocksparse_from_numpy(dense_shape, values: np.ndarray, indices: np.ndarray, ort_device: OrtDevice) -> "SparseTensor":
        """`values`: [rows of a block, columns of a block, blocks]; `indices`: [2, blocks], rows and columns of blocks."""
        _expect_host(ort_device)
        return SparseTensor(_native._sparse_blocks(dense_shape, values, indices))

    def values(self) -> np.ndarray:
        """[nnz], over the tensor's own memory."""
        return _native._sparse_values(self._value)

    def as_coo_view(self) -> SparseCooView:
        """Its indices in coordinate format. Raises RuntimeError where it has another."""
        return self._view(SparseCooView, OrtSparseFormat.ORT_SPARSE_COO)

    def as_csrc_view(self) -> SparseCsrView:
        """Its indices by compressed rows. Raises RuntimeError where it has another format."""
        return self._view(SparseCsrView, OrtSparseFormat.ORT_SPARSE_CSRC)

    def as_blocksparse_view(self) -> SparseBlockSparseView:
        """Its indices of blocks. Raises RuntimeError where it has another format."""
        return self._view(SparseBlockSparseView, OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE)

    # The names in the native module.
    get_coo_data, get_csrc_data, get_blocksparse_data = as_coo_view, as_csrc_view, as_blocksparse_view

    def to_cuda(self, ort_device: OrtDevice) -> "SparseTensor":
        """Raises RuntimeError: no provider takes sparse tensors."""
        raise RuntimeError("sparse tensors live in host memory; no provider takes them")

    def format(self) -> OrtSparseFormat:
        """How its indices are written."""
        return OrtSparseFormat(_native._sparse_format(self._value))

    def dense_shape(self) -> list[int]:
        """The shape that it would have with its zeros."""
        return self._value.shape()

    def data_type(self) -> str:
        """Such as "sparse_tensor(float)"."""
        return self._value.data_type()

    def device_name(self) -> str:
        """Where it lies: "cpu"."""
        return "cpu"

    def _view(self, view, expected: OrtSparseFormat):
        if self.format() != expected:
            raise RuntimeError(f"the sparse tensor is in format {self.format().name}, expected {expected.name}")
        return view(self._value)


def _expect_host(device: OrtDevice) -> None:
    if device.device_type() != 0:
        raise RuntimeError("sparse tensors are made in host memory: expected OrtDevice.make('cpu', 0)")
