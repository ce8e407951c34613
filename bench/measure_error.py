#!/usr/bin/env python3
"""measure_error.py [MODEL...]: how far results are off the exact ones, on Roundhouse and on ONNX Runtime.

The truth is the same model in float64 on Roundhouse, held against ONNX Runtime's result of the float32 model; of a quantised model it is
the one with dequantised weights and unrounded activations. Prints root mean squares of the errors over some inputs.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "models"))
from common import model_path, sample_inputs, session  # noqa: E402
from dequantize import dequantized_model, root_mean_square  # noqa: E402

import roundhouse  # noqa: E402

FLOAT_MODELS = [
    "bert_base",
    "convnext_tiny",
    "deeplabv3_mobilenet_v3_large",
    "distilbert",
    "efficientnet_b0",
    "gpt2",
    "llama_tiny",
    "lstm_tagger",
    "mobilenetv3_large_100",
    "resnet50",
    "unet",
    "vit_small_patch16_224",
    "whisper_tiny_encoder",
]
QUANTISED_MODELS = ["resnet50_int8_qdq", "bert_base_int8_dynamic", "llama_tiny_int4"]


def path_of(name):
    return name if name.endswith(".onnx") else model_path(name)


def truth(module, name, dtype):
    model = dequantized_model(path_of(name), dtype)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{pathlib.Path(name).stem}.{dtype}.onnx"
        path.write_bytes(model.SerializeToString())
        return session(module, path, 2)


def wide(feeds):
    return {k: v.astype("f8") if v.dtype.kind == "f" else v for k, v in feeds.items()}


def measure(name, seeds):
    """The root mean squares of each output: of ours, of ONNX Runtime's and of the values themselves."""
    path = path_of(name)
    exact, ours, stock = truth(roundhouse, name, "f8"), session(roundhouse, path, 2), session(onnxruntime, path, 2)
    check = truth(onnxruntime, name, "f4")
    outputs = [o.name for o in stock.get_outputs()][:2]
    errors = {o: {"ours": [], "stock": [], "size": []} for o in outputs}
    for seed in range(seeds):
        feeds = sample_inputs(path, seed)
        expected = exact.run(outputs, wide(feeds))
        for o, actual, e in zip(outputs, check.run(outputs, feeds), expected) if seed == 0 else ():
            apart = root_mean_square(actual - e) / root_mean_square(e)
            assert apart < 1e-5, f"{name} {o}: float64 here and float32 on ONNX Runtime are {apart:.3g} apart"
        for who, runner in (("ours", ours), ("stock", stock)):
            for o, actual, e in zip(outputs, runner.run(outputs, feeds), expected):
                errors[o][who].append(root_mean_square(actual - e))
        for o, e in zip(outputs, expected):
            errors[o]["size"].append(root_mean_square(e))
    return {o: {who: root_mean_square(values) for who, values in of.items()} for o, of in errors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=FLOAT_MODELS + QUANTISED_MODELS, help="names, or files")
    parser.add_argument("--seeds", type=int, default=3, help="inputs for each model")
    options = parser.parse_args()
    print("| model, output | Roundhouse | ONNX Runtime | ratio | root mean square of the output |\n|" + " --- |" * 5)
    for name in options.models:
        for output, mean in measure(name, options.seeds).items():
            assert np.isfinite(list(mean.values())).all()
            ratio = mean["ours"] / mean["stock"]
            print(
                f"| {pathlib.Path(name).stem}, {output} | {mean['ours']:.4g} | {mean['stock']:.4g} | {ratio:.3f} | {mean['size']:.4g} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
