"""Roundhouse under this name: after this import, "onnxruntime" and its modules are those of the package roundhouse."""

import importlib

importlib.import_module("roundhouse").install_as_onnxruntime()
