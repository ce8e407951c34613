"""A package of this name whose folder stands first on PYTHONPATH makes ``import onnxruntime`` give Roundhouse."""

import importlib
import importlib.util
import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _load():
    """The package that the interpreter finds, else the one that this file belongs to."""
    try:
        return importlib.import_module("roundhouse")
    except ModuleNotFoundError as problem:
        if problem.name != "roundhouse":
            raise
    spec = importlib.util.spec_from_file_location(
        "roundhouse", os.path.join(_PACKAGE, "__init__.py"), submodule_search_locations=[_PACKAGE]
    )
    sys.modules["roundhouse"] = package = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(package)
    except ModuleNotFoundError as problem:
        del sys.modules["roundhouse"]
        if problem.name != "roundhouse._native":
            raise
        version = ".".join(map(str, sys.version_info[:3]))
        raise ImportError(f"Roundhouse in {_PACKAGE} is of another Python than this {version}; install it for this one too") from problem
    return package


_load().install_as_onnxruntime()
