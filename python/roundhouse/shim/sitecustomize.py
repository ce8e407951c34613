"""The interpreter imports this when it starts with the folder on PYTHONPATH: it watches children, and runs the next sitecustomize."""

import importlib.machinery
import importlib.util
import os
import sys

import roundhouse_children

sys.addaudithook(roundhouse_children.watch)

_others = [entry for entry in sys.path if os.path.abspath(entry) != roundhouse_children.FOLDER]
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _others)
if _spec is not None:
    sys.modules["sitecustomize"] = _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
