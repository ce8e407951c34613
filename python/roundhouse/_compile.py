"""Compiling models ahead of time."""

import os
from collections.abc import Callable
from enum import IntFlag

from roundhouse import _native
from roundhouse._native import GraphOptimizationLevel, OrtEpContextData, OrtExternalInitializerInfo, OrtValue, SessionOptions
from roundhouse._types import NamedInText

__all__ = ["ModelCompiler", "OrtCompileApiFlags", "OrtExternalInitializerInfo"]


class OrtCompileApiFlags(NamedInText, IntFlag):
    """What else is an error when a model is compiled."""

    NONE = 0
    ERROR_IF_NO_NODES_COMPILED = 1
    ERROR_IF_OUTPUT_FILE_EXISTS = 2


LocationFunction = Callable[[str, OrtValue, OrtExternalInitializerInfo | None], OrtExternalInitializerInfo | None]


class ModelCompiler:
    """Compiles a model for the providers of the session options. What they compile stands in the result as EPContext nodes; the rest is the
    model at the optimization level given.

    get_initializer_location_func(name, value, info) says where the data of an initializer lies, or None to keep it in the model; the
    value is valid during the call.
    """

    def __init__(
        self,
        sess_options: SessionOptions,
        input_model_path_or_bytes: str | os.PathLike | bytes,
        embed_compiled_data_into_model: bool = False,
        external_initializers_file_path: str | os.PathLike | None = None,
        external_initializers_size_threshold: int = 1024,
        flags: int = OrtCompileApiFlags.NONE,
        graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_DISABLE_ALL,
        get_initializer_location_func: LocationFunction | None = None,
    ):
        if isinstance(input_model_path_or_bytes, os.PathLike):
            input_model_path_or_bytes = os.fspath(input_model_path_or_bytes)
        if input_model_path_or_bytes == b"":
            raise ValueError("the bytes of the model are none")
        if isinstance(input_model_path_or_bytes, str):
            if not os.path.exists(input_model_path_or_bytes):
                raise _native.InvalidArgument(f'Input model path does not exist: "{input_model_path_or_bytes}"')
        elif not isinstance(input_model_path_or_bytes, bytes):
            raise TypeError(f"the model is of type {type(input_model_path_or_bytes).__name__}, expected a path or bytes")
        if external_initializers_file_path:
            if get_initializer_location_func is not None:
                raise ValueError("external_initializers_file_path and get_initializer_location_func exclude each other: give one of them")
            external_initializers_file_path = os.fspath(external_initializers_file_path)
        if get_initializer_location_func is not None and not callable(get_initializer_location_func):
            raise TypeError("get_initializer_location_func is not callable")
        self._input_path = input_model_path_or_bytes if isinstance(input_model_path_or_bytes, str) else None
        self.get_initializer_location_func_wrapper = get_initializer_location_func
        self._model_compiler = _native.ModelCompiler(
            sess_options,
            input_model_path_or_bytes,
            self._input_path is not None,
            embed_compiled_data_into_model,
            external_initializers_file_path or "",
            external_initializers_size_threshold,
            int(flags),
            graph_optimization_level,
            get_initializer_location_func,
        )

    def compile_to_file(self, output_model_path: str | os.PathLike | None = None) -> None:
        """Writes the compiled model; without a path, beside the input, its name ending in _ctx.onnx."""
        if output_model_path is None:
            if self._input_path is None:
                raise ValueError("no output path is given, and the input model has none to name the output after")
            output_model_path = os.path.splitext(self._input_path)[0] + "_ctx.onnx"
        self._model_compiler.compile_to_file(os.fspath(output_model_path))

    def compile_to_bytes(self) -> bytes:
        """The compiled model as the bytes of a file."""
        return self._model_compiler.compile_to_bytes()

    def compile_to_stream(self, write_function: Callable[[bytes], None]) -> None:
        """Gives the compiled model to the function, in one call or more."""
        self._model_compiler.compile_to_stream(write_function)

    def set_ep_context_binary_information(self, output_directory: str | os.PathLike, model_name: str | os.PathLike) -> None:
        """Where providers put the files of what they compile, and what they name them after."""
        folder, name = os.fspath(output_directory), os.fspath(model_name)
        for value, what in ((folder, "output_directory"), (name, "model_name")):
            if not value:
                raise _native.InvalidArgument(f"{what} is empty")
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise _native.InvalidArgument(f'output_directory "{folder}" is a file, expected a folder')
        self._model_compiler.set_ep_context_binary_information(folder, name)

    def set_ep_context_data_write_func(self, write_func: Callable[[str, OrtEpContextData], None]) -> None:
        """The function takes what providers compiled, by name, in place of files; the data is there only during the call.

        It may be called from several threads at once.
        """
        if write_func is None:
            raise RuntimeError("write_func is None; clear_ep_context_data_write_func() takes it away")
        if not callable(write_func):
            raise TypeError("write_func is not callable")
        self._model_compiler.set_ep_context_data_write_func(write_func)

    def clear_ep_context_data_write_func(self) -> None:
        """Contexts go to files, or into the model, again."""
        self._model_compiler.clear_ep_context_data_write_func()
