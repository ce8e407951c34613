#include <cstdio>
#include <cstdlib>

#include "base/shared_bytes.h"
#include "onnx/writer.h"
#include "session/run_helpers.h"
#include "support/sanitizers.h"

namespace rh::test {
namespace {

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

// Products, convolutions and cells: the forms that weights are packed in.
constexpr char kManyForms[] = R"(<opset_import: ["" : 18]>
main (float[1, 64, 8, 8] x, float[4, 1, 64] t) => (float[...] y, float[...] s, int32[...] q)
< float[64, 64, 3, 3] w = {0.1, ...}, float[4096, 32] m = {0.2, ...}, float[1, 256, 64] lw = {0.3, ...}, float[1, 256, 64] lr = {0.4, ...},
  uint8[64, 96] b = {3, ...}, float[] scale = {0.1}, uint8[] zero = {1}, int64[2] flat = {1, 4096} >
{
  c = Conv <pads = [1, 1, 1, 1]> (x, w)
  f = Reshape (c, flat)
  y = MatMul (f, m)
  s = LSTM <hidden_size = 64> (t, lw, lr)
  k = QuantizeLinear (t, scale, zero)
  q = MatMulInteger (k, b, zero, zero)
})";

TEST(Memory, ASecondSessionPacksNothingAgain) {
  const auto first = make_session(kManyForms);
  const SharedBytes before = shared_bytes();
  EXPECT_GE(before.pieces, 4u);
  const auto second = make_session(kManyForms);
  EXPECT_EQ(shared_bytes().made, before.made);
  EXPECT_EQ(shared_bytes().bytes, before.bytes);
  EXPECT_GE(shared_bytes().found, before.found + 4);
}

// A batch of constant matrices, and constants on the left, one of them a batch.
TEST(Memory, ConstantsOnEitherSideOfAProductAreThereOnce) {
  constexpr char kModel[] = R"(<opset_import: ["" : 18]>
main (float[3, 20, 64] x, float[64, 100] z) => (float[...] y, float[...] l, float[...] k)
< float[3, 64, 64] b = {0.1, ...}, float[14, 64] a = {0.2, ...}, float[2, 12, 64] c = {0.3, ...} >
{
  y = MatMul (x, b)
  l = MatMul (a, z)
  k = MatMul (c, z)
})";
  const auto first = make_session(kModel);
  EXPECT_EQ(first->statistics().constant_bytes, 0u);
  const SharedBytes before = shared_bytes();
  const auto second = make_session(kModel);
  EXPECT_EQ(shared_bytes().made, before.made);
  EXPECT_EQ(shared_bytes().bytes, before.bytes);
  const auto results = run(*second, {{"x", filled({3, 20, 64}, 1)}, {"z", filled({64, 100}, 1)}}, {"y", "l", "k"});
  EXPECT_NEAR(results[0].tensor().data<float>()[0], 6.4f, 1e-4f);
  EXPECT_NEAR(results[1].tensor().data<float>()[0], 12.8f, 1e-4f);
  EXPECT_NEAR(results[2].tensor().data<float>()[2 * 12 * 100 - 1], 19.2f, 1e-4f);
}

TEST(Memory, WhatKeepsWeightsOutlivesSessions) {
  KeptBytes kept;
  {
    const KeepingScope scope(&kept);
    make_session(kManyForms);
  }
  EXPECT_GE(kept.pieces(), 4u);
  const SharedBytes before = shared_bytes();
  const auto session = make_session(kManyForms);
  EXPECT_EQ(shared_bytes().made, before.made);
}

TEST(Memory, CellsKeepTheirWeightsOnce) {
  const auto session = make_session(R"(<opset_import: ["" : 18]>
main (float[4, 1, 64] t) => (float[...] s)
< float[1, 256, 64] w = {0.3, ...}, float[1, 256, 64] r = {0.4, ...} > { s = LSTM <hidden_size = 64> (t, w, r) })");
  EXPECT_EQ(session->statistics().constant_bytes, 0u);
  const auto results = run(*session, {{"t", filled({4, 1, 64}, 1)}}, {"s"});
  EXPECT_EQ(results[0].tensor().elements(), 4 * 64);
}

}  // namespace
}  // namespace rh::test
