# ruff: noqa: F401
"""The names of the module of sessions."""

from __future__ import annotations

import collections
import collections.abc
import os
import typing
import warnings
import weakref
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from roundhouse import _providers
from roundhouse._binding import IOBinding
from roundhouse._compile import ModelCompiler
from roundhouse._device import OrtDevice, OrtDeviceVendorId, kind_and_vendor
from roundhouse._memory import copy_tensors
from roundhouse._native import AdapterFormat, OrtExternalInitializerInfo, OrtValue
from roundhouse._session import InferenceSession, Session
from roundhouse._sparse import SparseTensor
from roundhouse.capi import onnxruntime_pybind11_state as C  # noqa: N812 (the name in the API)

GetInitializerLocationFunc = Callable[[str, OrtValue, OrtExternalInitializerInfo | None], OrtExternalInitializerInfo | None]
GetInitializerLocationWrapperFunc = GetInitializerLocationFunc


def get_ort_device_type(device_type: str) -> int:
    """The number of a kind of device by its name."""
    return kind_and_vendor(device_type)[0]


def get_vendor_id_for_device_type(device_type: str) -> OrtDeviceVendorId | None:
    """The vendor that a device's name alone stands for."""
    return kind_and_vendor(device_type)[1] if device_type in ("cuda", "dml", "cann", "webgpu") else None


def check_and_normalize_provider_args(
    providers: Sequence[str | tuple[str, dict[Any, Any]]] | None,
    provider_options: Sequence[dict[Any, Any]] | None,
    available_provider_names: Sequence[str],
) -> tuple[list[str], list[dict[str, str]]]:
    """Names and options as text. Warns of names that are not available, and of those that stand twice."""
    options_of: dict[str, dict[str, str]] = {}
    for name, options in _providers.pairs_of(providers, provider_options):
        if name not in available_provider_names:
            warnings.warn(f"provider '{name}' is not available; there is {', '.join(available_provider_names)}", stacklevel=2)
        if name in options_of:
            warnings.warn(f"provider '{name}' is named twice; the first one counts", stacklevel=2)
        else:
            options_of[name] = _providers.as_text(options)
    return list(options_of), list(options_of.values())


def make_get_initializer_location_func_wrapper(get_initializer_location_func: GetInitializerLocationFunc) -> GetInitializerLocationFunc:
    """The function itself: the native compiler calls it with values of the package's own class."""
    return get_initializer_location_func
