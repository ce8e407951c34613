"""Asks for providers that cannot be had, each for a reason of its own, and prints what came of it as JSON.

``python want_providers.py MODULE FALLBACK FOLDER PLUGIN``: FALLBACK is the session entry "roundhouse.fallback", or empty for none; FOLDER
takes the libraries that are made from PLUGIN, which goes wrong as the environment variable RH_FAULT says.
"""

import importlib
import json
import os
import pathlib
import shutil
import sys
import warnings

import models

MODULE, FALLBACK, FOLDER, PLUGIN = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
TIMEOUT_MS = "1000"

#: name of the case: the provider, what is put where its library is looked for (a fault of the plugin, or bytes), provider options
WAYS = {
    "unknown name": ("CUDDAExecutionProvider", None, {}),
    "gone for good": ("ArmNNExecutionProvider", None, {}),
    "another system's": ("DmlExecutionProvider", None, {}),
    "not installed": ("TensorrtExecutionProvider", None, {}),
    "no library": ("XnnpackExecutionProvider", b"no library", {}),
    "a missing dependency": ("QNNExecutionProvider", "needs", {}),
    "no provider in it": ("WebGpuExecutionProvider", "core", {}),
    "another version": ("DnnlExecutionProvider", "host_is_too_old", {}),
    "no device": ("CANNExecutionProvider", "no_devices", {}),
    "it fails": ("ACLExecutionProvider", "create_without_memory", {}),
    "it refuses an option": ("VitisAIExecutionProvider", "create_refuses_options", {"speed": "9"}),
    "it hangs": ("RknpuExecutionProvider", "create_hangs", {}),
}


def put_library(ort, provider, content):
    path = FOLDER / f"roundhouse_provider_{provider.removesuffix('ExecutionProvider').lower()}.so"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "core":
        shutil.copy(pathlib.Path(importlib.import_module("roundhouse").__file__).parent / "libroundhouse.so.1", path)
    elif content == "needs":
        path.write_bytes(PLUGIN.read_bytes().replace(b"libstdc++.so.6", b"libgone_rh.so."))
    else:
        shutil.copy(PLUGIN, path)
        os.environ["RH_FAULT"], os.environ["RH_PLUGIN_NAME"] = content, provider


def want(ort, provider, content, options):
    if content is not None:
        put_library(ort, provider, content)
    session_options = ort.SessionOptions()
    session_options.log_severity_level = 4
    session_options.add_session_config_entry("roundhouse.plugin.timeout_ms", TIMEOUT_MS)
    if FALLBACK:
        session_options.add_session_config_entry("roundhouse.fallback", FALLBACK)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            session = ort.InferenceSession(models.add(), session_options, providers=[(provider, options), "CPUExecutionProvider"])
            return {"providers": session.get_providers(), "warnings": [str(w.message) for w in warned]}
        except Exception as error:
            return {"error": str(error), "type": type(error).__name__, "warnings": [str(w.message) for w in warned]}


def main():
    if MODULE == "onnxruntime":
        importlib.import_module("roundhouse").install_as_onnxruntime()
    ort = importlib.import_module(MODULE)
    os.environ["ROUNDHOUSE_PROVIDER_PATH"] = str(FOLDER)
    print(json.dumps({name: want(ort, *way) for name, way in WAYS.items()}))
    sys.stdout.flush()
    os._exit(0)  # a provider hangs


main()
