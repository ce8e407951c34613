#!/usr/bin/env python3
"""quantization_error.py [MODEL...]: how far quantised models are off what they stand for, on Roundhouse and on ONNX Runtime.

Both run the quantised model; the truth is the same model with dequantised weights and unrounded activations in float64, on Roundhouse,
held against ONNX Runtime's result of its float32 form. Prints root mean squares of the errors over some inputs.
"""

import pathlib
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "models"))
from common import model_path, sample_inputs, session  # noqa: E402
from dequantize import dequantized_model, root_mean_square  # noqa: E402

import roundhouse  # noqa: E402

MODELS = ["resnet50_int8_qdq", "bert_base_int8_dynamic", "llama_tiny_int4"]
SEEDS = 3


def truth(module, name, dtype):
    model = dequantized_model(model_path(name), dtype)
    path = pathlib.Path(model_path(name)).with_suffix(f".{dtype}.onnx")
    path.write_bytes(model.SerializeToString())
    try:
        return session(module, path, 2)
    finally:
        path.unlink()


def wide(feeds):
    return {k: v.astype("f8") if v.dtype.kind == "f" else v for k, v in feeds.items()}


def main():
    for name in sys.argv[1:] or MODELS:
        path = model_path(name)
        exact, ours, stock = truth(roundhouse, name, "f8"), session(roundhouse, path, 2), session(onnxruntime, path, 2)
        check = truth(onnxruntime, name, "f4")
        outputs = [o.name for o in stock.get_outputs()][:2]
        errors = {(o, who): [] for o in outputs for who in ("ours", "stock", "size")}
        for seed in range(SEEDS):
            feeds = sample_inputs(path, seed)
            expected = exact.run(outputs, wide(feeds))
            for o, actual, e in zip(outputs, check.run(outputs, feeds), expected) if seed == 0 else ():
                apart = root_mean_square(actual - e) / root_mean_square(e)
                assert apart < 1e-5, f"{name} {o}: float64 here and float32 on ONNX Runtime are {apart:.3g} apart"
            for who, runner in (("ours", ours), ("stock", stock)):
                for o, actual, e in zip(outputs, runner.run(outputs, feeds), expected):
                    errors[o, who].append(root_mean_square(actual - e))
            for o, e in zip(outputs, expected):
                errors[o, "size"].append(root_mean_square(e))
        for o in outputs:
            mean = {who: root_mean_square(errors[o, who]) for who in ("ours", "stock", "size")}
            print(
                f"{name} {o}: Roundhouse {mean['ours']:.4g}, ONNX Runtime {mean['stock']:.4g}, "
                f"ratio {mean['ours'] / mean['stock']:.3f}, of values {mean['size']:.4g}",
                flush=True,
            )
        assert all(np.isfinite(v).all() for v in errors.values())


if __name__ == "__main__":
    main()
