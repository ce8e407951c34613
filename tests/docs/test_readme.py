"""The examples of README.md do what they say, word for word."""

import shlex
import sys

import numpy as np
import onnx
import pytest
from examples import BUILD, ROOT, block, run
from onnx import TensorProto, helper, numpy_helper


def example(language):
    return block("README.md", language)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model.onnx that scores an image."""
    weights = np.random.default_rng(3).standard_normal((10, 3)).astype(np.float32)
    nodes = [helper.make_node("GlobalAveragePool", ["image"], ["pooled"]), helper.make_node("Flatten", ["pooled"], ["features"])]
    nodes.append(helper.make_node("Gemm", ["features", "weights"], ["scores"], transB=1))
    graph = helper.make_graph(
        nodes,
        "scores",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(weights, "weights")],
    )
    made = tmp_path_factory.mktemp("readme")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), made / "model.onnx")
    return made


def test_python(folder):
    assert run([sys.executable, "-c", example("python")], folder).startswith("(1, 10) ")


def test_cpp(folder):
    (folder / "example.cc").write_text(example("cpp"))
    library = BUILD / "lib"
    run(["c++", "-std=c++17", "example.cc", f"-I{ROOT}/include/roundhouse", f"-L{library}", "-lroundhouse", "-o", "example"], folder)
    assert run(["./example"], folder, LD_LIBRARY_PATH=str(library)) == "10 scores\n"


@pytest.mark.parametrize("line", example("sh").splitlines())
def test_command_line(folder, line):
    words = shlex.split(line, comments=True)
    assert words[0] == "roundhouse"
    assert run([BUILD / "bin" / "roundhouse", *words[1:]], folder)


WIDE = """
#include <onnxruntime_cxx_api.h>

#include <iostream>

void cuda() {
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "test");
  Ort::SessionOptions session_options;
  OrtCUDAProviderOptions cuda_options;
  cuda_options.device_id = 0;
  cuda_options.arena_extend_strategy = OrtArenaExtendStrategy::kNextPowerOfTwo;
  cuda_options.gpu_mem_limit = 2ULL * 1024 * 1024 * 1024;
  session_options.AppendExecutionProvider_CUDA(cuda_options);
  Ort::Session session(env, L"model.onnx", session_options);
}

int main() {
  try {
    cuda();
  } catch (const Ort::Exception& error) {
    std::cout << error.GetOrtErrorCode() << " " << (std::string(error.what()).find("CUDA") != std::string::npos) << "\\n";
  }
  Ort::Env env;
  Ort::SessionOptions options;
  options.SetOptimizedModelFilePath(L"s\\u00e4\\u0448\\u7684\\U0001f600.onnx");
  std::cout << Ort::Session(env, L"model.onnx", options).GetInputCount() << "\\n";
  std::cout << Ort::Session(env, L"s\\u00e4\\u0448\\u7684\\U0001f600.onnx", options).GetInputCount() << "\\n";
  const wchar_t wrong[] = {wchar_t(0xd800), 0};
  try {
    Ort::Session(env, wrong, options);
  } catch (const Ort::Exception& error) {
    std::cout << error.GetOrtErrorCode() << "\\n";
  }
}
"""


def test_lines_that_are_written_for_windows_too(folder):
    """Paths of wide characters, and the name of a strategy: where no CUDA is there, that is the error."""
    (folder / "wide.cc").write_text(WIDE)
    library = BUILD / "lib"
    run(["c++", "-std=c++17", "wide.cc", f"-I{ROOT}/include/roundhouse", f"-L{library}", "-lroundhouse", "-o", "wide"], folder)
    assert run(["./wide"], folder, LD_LIBRARY_PATH=str(library)) == "1 1\n1\n1\n2\n"
    assert (folder / "s\u00e4\u0448\u7684\U0001f600.onnx").exists()
