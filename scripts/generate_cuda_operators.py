#!/usr/bin/env python3
"""Writes docs/providers/cuda_operators.md: which operators CUDA's provider has kernels for, in three tiers, from the rows in
src/providers/gpu/lower, the standard's schemas and src/ops/contrib_schemas.json.

generate_cuda_operators.py          writes the page
generate_cuda_operators.py --check  fails where the committed page differs
"""

import json
import pathlib
import re
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, ROWS = ROOT / "docs/providers/cuda_operators.md", ROOT / "src/providers/gpu/lower"
MICROSOFT, WIDTH = "com.microsoft", 150

#: What the models of tests/models, decoders of language models and diffusion models consist of.
STANDARD = """Add And ArgMax Attention AveragePool BatchNormalization Cast Ceil Clip Concat Constant ConstantOfShape Conv ConvTranspose Cos
CumSum DequantizeLinear Div Dropout DynamicQuantizeLinear Equal Erf Exp Expand Flatten Floor Gather GatherElements GatherND Gelu Gemm
GlobalAveragePool Greater GreaterOrEqual GroupNormalization HardSigmoid HardSwish Identity If InstanceNormalization IsNaN LSTM
LayerNormalization LeakyRelu Less LessOrEqual Log Loop MatMul MatMulInteger Max MaxPool Min Mod Mul Neg NonMaxSuppression NonZero Not OneHot
Or Pad Pow QuantizeLinear RMSNormalization Range Reciprocal ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Reshape Resize
RotaryEmbedding Scan ScatterElements ScatterND Shape Sigmoid Sign Sin Size Slice Softmax Softplus Split Sqrt Squeeze Sub Swish Tanh Tile
TopK Transpose Trilu Unsqueeze Where""".split()
CONTRIBUTED = """Attention BiasGelu FastGelu FusedMatMul Gelu GroupQueryAttention MatMulNBits MultiHeadAttention PackedAttention QuickGelu
RotaryEmbedding SkipLayerNormalization SkipSimplifiedLayerNormalization""".split()
#: Why those of the first tier that have no kernel have none.
REASONS = {
    "LSTM": "no kernel of recurrent layers yet",
    "NonMaxSuppression": "the size of its result depends on the data",
    "NonZero": "the size of its result depends on the data",
    "PackedAttention": "the CPU has no kernel for it either",
    "Scan": "its body is not unrolled yet",
}


def rows():
    """Domain and name of each operator that has a row."""
    lists = (ROWS / "operator_list.inc", ROWS / "elementwise/elementwise_list.inc")
    return {match for path in lists for match in re.findall(r'^RH_\w+\("([\w.]*)", "(\w+)"', path.read_text(), re.MULTILINE)}


def wrapped(names):
    lines, line = [], ""
    for name in names:
        if line and len(line) + len(name) + 2 > WIDTH:
            lines.append(line + ",")
            line = name
        else:
            line = f"{line}, {name}" if line else name
    return "\n".join([*lines, line + "."]) if names else "None."


def tier(title, names, there, domain, reasons=None):
    have, left = [n for n in names if (domain, n) in there], [n for n in names if (domain, n) not in there]
    text = f"### {title}: {len(have)} of {len(names)}\n\n{wrapped(have)}\n"
    if reasons is not None:
        return text + "".join(f"\n- {name}: {reasons[name]}." for name in left) + ("\n" if left else "")
    return text + (f"\nThe CPU's: {wrapped(left)}\n" if left else "")


def page():
    there = rows()
    standard = sorted({s.name for s in onnx.defs.get_all_schemas() if s.domain == "" and not s.deprecated})
    contributed = sorted({row["name"] for row in json.loads((ROOT / "src/ops/contrib_schemas.json").read_text())})
    parts = [
        "# Operators of CUDA's provider\n\nMade by scripts/generate_cuda_operators.py. A node of an operator that is here may still be the "
        "CPU's, by its types, ranks or attributes: `roundhouse explain`\nsays why. An If is taken where the branches are and the condition "
        "is known before the region runs, a Loop where its count is a constant and nothing ends\nit earlier.\n",
        "## Tier A: what vision, language and diffusion models consist of\n",
        tier("ai.onnx", sorted(STANDARD), there, "", REASONS),
        tier("com.microsoft", sorted(CONTRIBUTED), there, MICROSOFT, REASONS),
        "## Tier B\n",
        tier("the rest of ai.onnx", [n for n in standard if n not in STANDARD], there, ""),
        "## Tier C\n",
        tier("the rest of com.microsoft", [n for n in contributed if n not in CONTRIBUTED], there, MICROSOFT),
    ]
    return "\n".join(parts)


def main():
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not what scripts/generate_cuda_operators.py makes: run it")


if __name__ == "__main__":
    main()
