#include "session/fetch_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu_features.h"
#include "graph/text_parse.h"
#include "session/compile/compile.h"

namespace rh::test {
namespace {

struct PlainKernel final : Kernel {
  explicit PlainKernel(bool fetches) : fetches_(fetches) {}
  Status run(RunContext&) const override { return {}; }
  bool fetches_ahead() const override { return fetches_; }
  bool fetches_;
};

constexpr size_t kMiB = 1 << 20;

using Pieces = std::vector<std::pair<ptrdiff_t, ptrdiff_t>>;

/// What steps fetch that pack these pieces [begin, end) of one memory: 'F' fetches, '-' does not.
std::vector<Pieces> fetched(const std::string& steps, const std::vector<Pieces>& packed) {
  static const std::vector<std::byte> memory(32 * kMiB);
  Plan plan;
  std::vector<PackedBytes> bytes;
  for (size_t s = 0; s < steps.size(); ++s) {
    plan.kernels.push_back(std::make_unique<PlainKernel>(steps[s] == 'F'));
    Step step;
    step.kernel = plan.kernels.back().get();
    plan.steps.push_back(step);
    PackedBytes& of_step = bytes.emplace_back();
    for (const auto& [begin, end] : packed[s]) of_step.emplace_back(memory.data() + begin, static_cast<size_t>(end - begin));
  }
  add_fetches(plan, bytes);
  std::vector<Pieces> result;
  for (const Step& step : plan.steps) {
    Pieces& pieces = result.emplace_back();
    for (const std::span<const std::byte> piece : plan.fetches_of(step)) {
      const ptrdiff_t begin = piece.data() - memory.data();
      pieces.emplace_back(begin, begin + static_cast<ptrdiff_t>(piece.size()));
    }
  }
  return result;
}

TEST(FetchAhead, UpToAndWithTheNextStepThatFetches) {
  EXPECT_EQ(fetched("F--FF-", {{{0, 64}}, {{128, 320}, {320, 384}}, {}, {{448, 896}}, {{960, 1024}}, {{1024, 2048}}}),
            (std::vector<Pieces>{{{128, 384}, {448, 896}}, {}, {}, {{960, 1024}}, {{1024, 2048}}, {}}));
}

TEST(FetchAhead, WhatIsMoreThanOneStepsPartIsOfThoseBefore) {
  const ptrdiff_t m = kMiB;
  EXPECT_EQ(fetched("FFF--", {{}, {{0, m}}, {{m, 2 * m}}, {{2 * m, 5 * m}}, {{10 * m, 11 * m}}}),
            (std::vector<Pieces>{{{0, m}, {10 * m, 11 * m}}, {{m, 2 * m}, {4 * m, 5 * m}}, {{2 * m, 4 * m}}, {}, {}}));
}

TEST(FetchAhead, NotFarAhead) {
  const ptrdiff_t m = kMiB;
  std::vector<Pieces> packed(19), expected(19);
  packed[17] = {{m, 2 * m}};
  packed[18] = {{0, m}};
  expected[1] = {{m, 2 * m}};
  EXPECT_EQ(fetched("-F-----------------", packed), expected);
}

/// Two blocks of expansion, depthwise convolution, gates and projection. 10 MB of weights.
std::string two_blocks() {
  std::string nodes, shapes;
  int named = 0;
  const auto weights = [&](const std::string& name, const Shape& shape) {
    shapes += (shapes.empty() ? "" : ", ") + ("int64[" + std::to_string(shape.rank()) + "] s_" + name + " = {");
    for (int i = 0; i < shape.rank(); ++i) shapes += (i ? ", " : "") + std::to_string(shape[i]);
    shapes += "}";
    nodes += name + " = ConstantOfShape <value = float[1] {0.0" + std::to_string(++named) + "}> (s_" + name + ")\n";
    return name;
  };
  nodes += "i = Conv <pads = [1, 1, 1, 1]> (x, " + weights("wi", {192, 3, 3, 3}) + ")\n";
  const auto add_block = [&](const std::string& b, const std::string& x, int64_t in, int64_t hidden, int64_t squeezed, int64_t out) {
    nodes += "e" + b + " = Conv (" + x + ", " + weights("we" + b, {hidden, in, 1, 1}) + ")\nh" + b + " = HardSwish (e" + b + ")\n";
    nodes += "d" + b + " = Conv <group = " + std::to_string(hidden) + ", pads = [1, 1, 1, 1]> (h" + b + ", " +
             weights("wd" + b, {hidden, 1, 3, 3}) + ")\nv" + b + " = HardSwish (d" + b + ")\nm" + b + " = GlobalAveragePool (v" + b + ")\n";
    nodes += "r" + b + " = Conv (m" + b + ", " + weights("w1" + b, {squeezed, hidden, 1, 1}) + ")\na" + b + " = Relu (r" + b + ")\n";
    nodes += "q" + b + " = Conv (a" + b + ", " + weights("w2" + b, {hidden, squeezed, 1, 1}) + ")\ng" + b + " = HardSigmoid (q" + b + ")\n";
    nodes += "s" + b + " = Mul (v" + b + ", g" + b + ")\np" + b + " = Conv (s" + b + ", " + weights("wp" + b, {out, hidden, 1, 1}) + ")\n";
  };
  add_block("a", "i", 192, 1152, 288, 320);
  add_block("b", "pa", 320, 1280, 320, 320);
  return "<opset_import: [\"\" : 17]>\ng (float[1, 3, 14, 14] x) => (float[1, 320, 14, 14] pb)\n<" + shapes + ">\n{\n" + nodes + "}";
}

TEST(FetchAhead, ConvolutionsInBlocksFetchGatesAndTheProjectionBehindThem) {
  if (!cpu_features().avx512) GTEST_SKIP() << "kernels for shorter vectors fetch nothing";
  const CompiledModel compiled = compile(parse_model(two_blocks()), {}, {});
  const std::vector<Step>& steps = compiled.plan->steps;
  int gates = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].node->op_type != "SqueezeExcite") continue;
    ++gates;
    size_t before = s, behind = s + 1;
    while (before > 0 && !steps[before].kernel->fetches_ahead()) --before;
    while (behind + 1 < steps.size() && !steps[behind].kernel->fetches_ahead()) ++behind;
    size_t expected = 0, bytes = 0;
    for (size_t t = s; t <= behind; ++t) expected += steps[t].kernel->packed_bytes();
    for (const std::span<const std::byte> piece : compiled.plan->fetches_of(steps[before])) bytes += piece.size();
    EXPECT_GE(bytes, std::min(expected * 9 / 10, 2 * kMiB)) << "of step " << before << ", " << steps[before].node->op_type;
    EXPECT_EQ(steps[s].fetch_count, 0);
  }
  EXPECT_EQ(gates, 2);
}

}  // namespace
}  // namespace rh::test
