"""Inputs of `run` that are not arrays: images, JSON, folders."""

import base64
import struct
import zlib

import numpy as np
import pytest
from command import answer, roundhouse, value, write_model
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (6, 4, 3), dtype=np.uint8)  # height, width, red green blue

# 8 by 8 pixels of the colour 200, 100, 50.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wCEAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRQBAwQEBQQFCQ"
    "UFCRQNCw0UFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFP/AABEIAAgACAMBIgACEQEDEQH/xAGiAAABBQEBAQEBAQAAAAAAAAAA"
    "AQIDBAUGBwgJCgsQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVl"
    "dYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+gEAAwEB"
    "AQEBAQEBAQAAAAAAAAECAwQFBgcICQoLEQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIygQgUQpGhscEJIzNS8BVictEKFiQ04SXxFxgZGiYnKCkqNTY3OD"
    "k6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqCg4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2dri4+Tl5ufo6ery"
    "8/T19vf4+fr/2gAMAwEAAhEDEQA/AKtFFFfh5/SB/9k="
)


def write_ppm(path, pixels):
    kind = b"P6" if pixels.ndim == 3 else b"P5"
    path.write_bytes(kind + b"\n%d %d\n255\n" % (pixels.shape[1], pixels.shape[0]) + pixels.tobytes())


def write_png(path, pixels):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_bmp(path, pixels):
    height, width = pixels.shape[:2]
    rows = b"".join(row[:, ::-1].tobytes() + bytes(-3 * width % 4) for row in pixels[::-1])
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 0, 0, 0, 0)
    path.write_bytes(b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + header + rows)


def write_identity(path, shape, element=TensorProto.FLOAT):
    write_model(path, [helper.make_node("Identity", ["x"], ["y"])], [value("x", shape, element)], [value("y", None, element)])


@pytest.fixture
def here(tmp_path):
    write_ppm(tmp_path / "image.ppm", PIXELS)
    write_png(tmp_path / "image.png", PIXELS)
    write_bmp(tmp_path / "image.bmp", PIXELS)
    (tmp_path / "image.jpg").write_bytes(JPEG)
    write_identity(tmp_path / "open.onnx", ["N", 3, "H", "W"])
    return tmp_path


def output(here, *arguments, model="open.onnx"):
    answer("run", model, *arguments, "--save", "out", cwd=here)
    return np.load(here / "out" / "y.npy")


NCHW = PIXELS.transpose(2, 0, 1)[None]


@pytest.mark.parametrize("ending", ["ppm", "png", "bmp"])
def test_formats(ending, here):
    np.testing.assert_allclose(output(here, "-i", f"image.{ending}"), NCHW / 255, rtol=1e-6)


def test_jpeg(here):
    found = output(here, "-i", "x=image.jpg", "--scale", "1")
    assert found.shape == (1, 3, 8, 8)
    assert np.abs(found - np.array([200, 100, 50]).reshape(1, 3, 1, 1)).max() <= 3


# Shape and type of the input, options, and what the image becomes.
CASES = {
    "channels last": ([1, 6, 4, 3], TensorProto.FLOAT, [], PIXELS[None] / 255),
    "channels last asked for": (["N", "H", "W", "C"], TensorProto.FLOAT, ["--layout", "nhwc"], PIXELS[None] / 255),
    "bytes": ([1, "H", "W", 3], TensorProto.UINT8, [], PIXELS[None]),
    "half": ([1, 3, 6, 4], TensorProto.FLOAT16, [], NCHW / 255),
    "no batch": ([3, 6, 4], TensorProto.FLOAT, [], NCHW[0] / 255),
    "blue first": ([1, 3, 6, 4], TensorProto.FLOAT, ["--channel-order", "bgr"], NCHW[:, ::-1] / 255),
    "one mean": ([1, 3, 6, 4], TensorProto.FLOAT, ["--mean", "0.5", "--std", "0.5"], NCHW / 127.5 - 1),
    "means by channel": (
        [1, 3, 6, 4],
        TensorProto.FLOAT,
        ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"],
        (NCHW / 255 - np.array([0.485, 0.456, 0.406]).reshape(3, 1, 1)) / np.array([0.229, 0.224, 0.225]).reshape(3, 1, 1),
    ),
    "cut": ([1, 3, 4, 4], TensorProto.FLOAT, [], NCHW[:, :, 1:5] / 255),
    "padded": ([1, 3, 6, 6], TensorProto.FLOAT, ["--image-fit", "pad"], np.pad(NCHW, ((0, 0), (0, 0), (0, 0), (1, 1))) / 255),
    "size asked for": (["N", 3, "H", "W"], TensorProto.FLOAT, ["--image-size", "4x4"], NCHW[:, :, 1:5] / 255),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_image_becomes(name, here):
    shape, element, options, expected = CASES[name]
    write_identity(here / "model.onnx", shape, element)
    found = output(here, "-i", "image.png", *options, model="model.onnx")
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=2e-3 if element == TensorProto.FLOAT16 else 1e-5, atol=1e-6)


def test_resizing_keeps_what_is_flat_and_what_rises(here):
    ramp = np.repeat(np.arange(0, 240, 4, dtype=np.uint8)[None, :, None], 30, 0).repeat(3, 2)
    write_ppm(here / "ramp.ppm", ramp)
    small = output(here, "-i", "ramp.ppm", "--image-size", "10x20", "--image-fit", "stretch", "--scale", "1")[0, 0]
    assert small.shape == (10, 20) and np.ptp(small, axis=0).max() == 0
    np.testing.assert_allclose(small[0, 1:-1], ramp[0, :, 0].reshape(20, 3).mean(1)[1:-1], atol=1.5)
    grey = np.full((30, 60), 77, np.uint8)
    write_ppm(here / "grey.pgm", grey)
    assert (output(here, "-i", "grey.pgm", "--image-size", "9x17", "--scale", "1") == 77).all()


@pytest.mark.parametrize(
    ("shape", "arguments", "wanted"),
    [
        ([1, 3, 6, 4], ["-i", "damaged.png"], "damaged.png: cannot be read as an image"),
        ([1, 3, 6, 4], ["-i", "missing.jpg"], "missing.jpg"),
        ([1, 7, 6, 5], ["-i", "image.png"], "7 channels"),
        ([4, 3, 6, 4], ["-i", "image.png"], "4 images at once"),
        ([10], ["-i", "image.png"], "rank 1"),
        ([1, 3, 6, 4], ["-i", "image.png", "--image-size", "5x5"], "takes images of 6x4"),
        ([1, 3, "H", "W"], ["-i", "image.png", "--image-size", "5"], "HEIGHTxWIDTH"),
        ([1, 3, 6, 4], ["-i", "image.png", "--mean", "1,2"], "--mean"),
        ([1, 3, 6, 10**6], ["-i", "image.png"], "at most 16384"),
    ],
)
def test_images_that_cannot_be_used(shape, arguments, wanted, here):
    (here / "damaged.png").write_bytes((here / "image.png").read_bytes()[:40])
    write_identity(here / "model.onnx", shape)
    done = roundhouse("run", "model.onnx", *arguments, cwd=here)
    assert done.returncode == 1 and wanted in done.stderr


JSON = {
    "lists": (TensorProto.FLOAT, "[[1, 2.5], [3, null]]", np.array([[1, 2.5], [3, np.nan]], "f4")),
    "named": (TensorProto.INT64, '{"x": [[1, -2]]}', np.array([[1, -2]])),
    "booleans": (TensorProto.BOOL, "[[true, false]]", np.array([[True, False]])),
    "half": (TensorProto.FLOAT16, "[[0.5, 2]]", np.array([[0.5, 2]], "f2")),
}


@pytest.mark.parametrize("name", JSON)
def test_json(name, tmp_path):
    element, text, expected = JSON[name]
    write_identity(tmp_path / "model.onnx", ["N", 2], element)
    (tmp_path / "x.json").write_text(text)
    np.testing.assert_array_equal(output(tmp_path, "-i", "x.json", model="model.onnx"), expected)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[[1, 2], [3]]", "different lengths"),
        ("[1, [2]]", "different lengths"),
        ("[300]", "300"),
        ('["a"]', "a"),
        ("{", "is not JSON"),
        ("[1.5]", "1.5"),
    ],
)
def test_json_that_cannot_be_used(text, wanted, tmp_path):
    write_identity(tmp_path / "model.onnx", None, TensorProto.INT8)
    (tmp_path / "x.json").write_text(text)
    done = roundhouse("run", "model.onnx", "-i", "x.json", cwd=tmp_path)
    assert done.returncode == 1 and wanted in done.stderr and "x.json" in done.stderr


@pytest.fixture
def sets(tmp_path):
    """sum = a + b, with two sets of its inputs and outputs, of which the second expects something else."""
    names = ["a", "b"]
    write_model(tmp_path / "add.onnx", [helper.make_node("Add", names, ["sum"])], [value(n, ["N"]) for n in names], [value("sum", ["N"])])
    for k, off in enumerate((0, 1)):
        folder = tmp_path / "data" / f"test_data_set_{k}"
        folder.mkdir(parents=True)
        arrays = {"input_0": np.full(3, k, "f4"), "input_1": np.arange(3, dtype="f4"), "output_0": np.arange(3, dtype="f4") + k + off}
        for name, array in arrays.items():
            (folder / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    return tmp_path


def test_sets_with_what_is_expected(sets):
    report = answer("run", "add.onnx", "--inputs", "data", "--save", "out", cwd=sets, code=3)
    assert [(s["name"], s["passed"]) for s in report["sets"]] == [("test_data_set_0", True), ("test_data_set_1", False)]
    assert report["sets"][1]["outputs"]["sum"]["expected"]["max_abs"] == 1 and not report["passed"]
    np.testing.assert_array_equal(np.load(sets / "out" / "test_data_set_1" / "sum.npy"), [1, 2, 3])
    text = roundhouse("run", "add.onnx", "--inputs", "data", cwd=sets)
    assert text.returncode == 3 and "as expected" in text.stdout and "not as expected" in text.stdout


def test_folder_of_files_named_by_input(sets):
    folder = sets / "one"
    folder.mkdir()
    np.save(folder / "b.npy", np.array([10, 20], "f4"))
    (folder / "a.json").write_text("[1, 2]")
    [one] = answer("run", "add.onnx", "--inputs", "one", cwd=sets)["sets"]
    assert one["outputs"]["sum"]["first"] == [11, 22]


def test_folder_of_images(here):
    write_png(here / "second.png", 255 - PIXELS)
    report = answer("run", "open.onnx", "--batch-dir", ".", "--scale", "1", cwd=here)
    means = {s["name"]: s["outputs"]["y"]["mean"] for s in report["sets"]}
    assert list(means) == ["image.bmp", "image.jpg", "image.png", "image.ppm", "second.png"]
    assert means["image.png"] == pytest.approx(PIXELS.mean()) and means["second.png"] == pytest.approx(255 - PIXELS.mean())


@pytest.mark.parametrize(
    ("arguments", "code", "wanted"),
    [
        (["--inputs", "nowhere"], 1, "nowhere"),
        (["--inputs", "empty"], 1, "holds no inputs"),
        (["--batch-dir", "empty"], 1, "holds no images"),
        (["--inputs", "data", "--batch-dir", "data"], 2, "--inputs"),
        (["--inputs", "wrong"], 1, "no input 'c'"),
    ],
)
def test_folders_that_cannot_be_used(arguments, code, wanted, sets):
    (sets / "empty").mkdir()
    (sets / "wrong").mkdir()
    (sets / "wrong" / "c.json").write_text("[1]")
    done = roundhouse("run", "add.onnx", *arguments, cwd=sets)
    assert done.returncode == code and wanted in done.stderr
