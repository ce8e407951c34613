"""A package of this name whose folder stands first on PYTHONPATH makes ``import onnxruntime`` give Roundhouse."""

from roundhouse import install_as_onnxruntime

install_as_onnxruntime()
