"""One host with one plugin: prints, for each model, who runs which nodes and what comes out, as JSON lines.

host.py MODULE LIBRARY EP OPTIONS LEVEL FOLDER MODEL...

FOLDER has NAME.npz beside each model: its inputs. Outputs go to NAME.MODULE.npz.
"""

import importlib
import json
import pathlib
import sys

import numpy as np

RECORD = "session.record_ep_graph_assignment_info"


def settings(module, device, options, level):
    made = module.SessionOptions()
    made.log_severity_level = 4
    made.intra_op_num_threads = 1
    made.graph_optimization_level = getattr(module.GraphOptimizationLevel, level)
    made.add_session_config_entry(RECORD, "1")
    made.add_provider_for_devices([device], options)
    return made


def nodes_of(session):
    """[provider, domain, operator, name] of each node that stands in the model."""
    groups = session.get_provider_graph_assignment_info()
    return sorted([group.ep_name, n.domain, n.op_type, n.name] for group in groups for n in group.get_nodes())


def examine(module, device, options, level, folder, name):
    try:
        session = module.InferenceSession(str(folder / f"{name}.onnx"), settings(module, device, options, level))
    except Exception as error:
        return {"model": name, "fails": "creation", "message": str(error)[:500]}
    answer = {"model": name, "nodes": nodes_of(session)}
    try:
        with np.load(folder / f"{name}.npz") as feeds:
            outputs = session.run(None, dict(feeds))
    except Exception as error:
        return answer | {"fails": "run", "message": str(error)[:500]}
    np.savez(folder / f"{name}.{module.__name__}.npz", *outputs)
    return answer


def main(module_name, library, ep, options, level, folder, *models):
    module = importlib.import_module(module_name)
    module.register_execution_provider_library(ep, library)
    devices = [d for d in module.get_ep_devices() if d.ep_metadata.get("library_path") == library or d.ep_name == ep]
    print(json.dumps({"devices": len(devices)}), flush=True)
    for name in models if devices else ():
        print(json.dumps(examine(module, devices[0], json.loads(options), level, pathlib.Path(folder), name)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
