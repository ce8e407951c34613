#include <cstdio>
#include <cstdlib>

#include "onnx/writer.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

// Sanitizers keep memory of their own beside the program's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

constexpr int kLayers = 12;
constexpr int64_t kWidth = 2048;

/// A field of /proc/self/status in bytes; 0 where there is none.
size_t status_bytes(const std::string& field) {
  std::string text(1 << 14, '\0');
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (!file) return 0;
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  const size_t at = text.find(field + ":");
  return at == std::string::npos ? 0 : static_cast<size_t>(std::atoll(text.c_str() + at + field.size() + 1)) * 1024;
}

bool reset_peak() {
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  if (!file) return false;
  const bool written = std::fputs("5", file) >= 0;
  return std::fclose(file) == 0 && written;
}

std::string write_large_model(const std::string& path) {
  Model model;
  model.ir_version = 8;
  Graph& graph = *model.graph;
  graph.name = "main";
  graph.opset_imports = {{"", 17}};
  ValueId value = graph.add_input("x", ValueType::tensor(DType::float32, SymbolicShape{Dim(1), Dim(kWidth)}));
  for (int i = 0; i < kLayers; ++i) {
    const ValueId weight = graph.add_initializer("w" + std::to_string(i), filled({kWidth, kWidth}, 1.0f / kWidth));
    const ValueId next = graph.add_value("y" + std::to_string(i));
    Node node;
    node.op_type = "MatMul";
    node.inputs = {value, weight};
    node.outputs = {next};
    graph.add_node(std::move(node));
    value = next;
  }
  graph.add_output(value);
  onnx::write_model_file(model, path, 1024);
  return graph.value(value).name;
}

TEST(Memory, MappedWeightsArePackedWithoutBeingThereTwice) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory cannot be told from the program's";
  const std::string path = ::testing::TempDir() + "roundhouse_large.onnx";
  const std::string output = write_large_model(path);
  const size_t before = status_bytes("VmRSS");
  if (before == 0 || !reset_peak()) GTEST_SKIP() << "this system does not tell a process's peak of memory";
  {
    auto session = Session::create(path);
    const size_t weights = size_t{kLayers} * kWidth * kWidth * sizeof(float);
    EXPECT_LE(status_bytes("VmHWM"), before + weights / 10 * 11 + (size_t{64} << 20));
    const auto results = run(*session, {{"x", filled({1, kWidth}, 1)}}, {output.c_str()});
    EXPECT_NEAR(results[0].tensor().data<float>()[0], 1.0f, 1e-3f);
  }
  std::remove(path.c_str());
  std::remove((path + ".data").c_str());
}

}  // namespace
}  // namespace rh::test
