"""Packages of other languages with the library inside (`scripts/bindings.py`): laid out as their package managers take them, and run."""

import json
import re
import shutil
import sys
import zipfile

import numpy as np
import pytest
from support import ROOT, run, write_models

LINKED = ROOT / "build/portable"

NODE = """
const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
  const session = await ort.InferenceSession.create('model.onnx');
  const image = new ort.Tensor('float32', new Float32Array(new Uint8Array(fs.readFileSync('image.bin')).buffer), [1, 3, 16, 16]);
  const { scores } = await session.run({ image });
  const words = await (await ort.InferenceSession.create('regex.onnx')).run({ text: new ort.Tensor('string', ['ab12', '12ab'], [2]) });
  const library = fs.readFileSync('/proc/self/maps', 'utf8').match(/\\/\\S*libonnxruntime\\S*/)[0];
  console.log(JSON.stringify({ scores: [...scores.data], words: [...words.matched.data].map(Number), library }));
})();
"""

JAVA = """
import ai.onnxruntime.*;
import java.nio.*;
import java.nio.file.*;
import java.util.*;

public class Run {
  public static void main(String[] arguments) throws Exception {
    float[] image = new float[3 * 16 * 16];
    ByteBuffer.wrap(Files.readAllBytes(Path.of("image.bin"))).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(image);
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    try (OrtSession session = environment.createSession("model.onnx");
        OnnxTensor tensor = OnnxTensor.createTensor(environment, FloatBuffer.wrap(image), new long[] {1, 3, 16, 16});
        OrtSession.Result result = session.run(Map.of("image", tensor))) {
      String library = "";
      for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
        if (line.contains("libonnxruntime.so")) library = line.substring(line.indexOf('/'));
      }
      String scores = Arrays.toString(((float[][]) result.get(0).getValue())[0]);
      System.out.println("{\\"scores\\": " + scores + ", \\"bytes\\": " + Files.size(Path.of(library)) + "}");
    }
  }
}
"""


def made(name, folder):
    """What the script prints for one of its names: the path of a package."""
    return run([sys.executable, ROOT / "scripts/bindings.py", LINKED, folder, name], ROOT).stdout.split()[-1]


@pytest.fixture
def models(tmp_path):
    write_models(tmp_path)
    arrays = np.load(tmp_path / "arrays.npz")
    (tmp_path / "image.bin").write_bytes(arrays["image"].tobytes())
    return tmp_path, arrays["scores"][0]


@pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="Node is not installed")
def test_node(models, tmp_path):
    folder, scores = models
    package = made("node", tmp_path / "made")
    (folder / "package.json").write_text('{"name": "program", "version": "1.0.0"}')
    run(["npm", "install", "--silent", "--install-links", package], folder)
    (folder / "program.js").write_text(NODE)
    printed = json.loads(run(["node", "program.js"], folder).stdout)
    np.testing.assert_allclose(printed["scores"], scores, rtol=1e-4, atol=1e-5)
    assert printed["words"] == [1, 0]
    library = folder / "node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1"
    assert printed["library"] == str(library)
    assert library.read_bytes() == (LINKED / "names/libonnxruntime.so.1").read_bytes()


@pytest.mark.skipif(not (shutil.which("javac") and shutil.which("mvn")), reason="Java or Maven is not installed")
def test_java(models, tmp_path):
    folder, scores = models
    jar = made("java", tmp_path / "made")
    (folder / "Run.java").write_text(JAVA)
    run(["javac", "-cp", jar, "Run.java"], folder)
    printed = json.loads(run(["java", "-cp", f"{jar}:.", "Run"], folder).stdout)
    np.testing.assert_allclose(printed["scores"], scores, rtol=1e-4, atol=1e-5)
    assert printed["bytes"] == (LINKED / "names/libonnxruntime.so.1").stat().st_size
    natives = [name for name in zipfile.ZipFile(jar).namelist() if "/native/" in name and not name.endswith("/")]
    assert {name.split("/")[3] for name in natives} == {"linux-x64"}


def test_nuget(tmp_path):
    """Its layout alone: .NET is not among the tools of the tests."""
    package = made("nuget", tmp_path)
    inside = zipfile.ZipFile(package)
    assert inside.testzip() is None
    names = inside.namelist()
    assert {"[Content_Types].xml", "_rels/.rels", "Roundhouse.OnnxRuntime.nuspec", "runtimes/linux-x64/native/libonnxruntime.so"} <= set(
        names
    )
    described = inside.read("Roundhouse.OnnxRuntime.nuspec").decode()
    assert re.search(r'<dependency id="Microsoft.ML.OnnxRuntime.Managed" version="\d+\.\d+\.\d+" />', described)
    extensions = set(re.findall(r'Extension="(\w+)"', inside.read("[Content_Types].xml").decode()))
    assert {name.rsplit(".", 1)[-1] for name in names if "." in name.rsplit("/", 1)[-1]} - {"xml", "_"} <= extensions
