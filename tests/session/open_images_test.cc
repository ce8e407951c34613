#include <algorithm>
#include <cmath>

#include "session/observer.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// A small network of images of any height and width: a first convolution and its pool, an expansion with squeeze-and-excite and a sum, and
/// taps that lie far apart.
constexpr const char* kNetwork = R"(<opset_import: ["" : 17]>
g (float[N, 3, height, width] x) => (float[N, 24, p, q] y)
<
  float[24, 3, 3, 3] w0 = {W0}, float[96, 24, 1, 1] w1 = {W1}, float[96, 1, 3, 3] w2 = {W2}, float[8, 96, 1, 1] r = {R0},
  float[96, 8, 1, 1] e = {E0}, float[24, 96, 1, 1] w3 = {W3}, float[24, 24, 3, 3] w4 = {W4}, float[24, 1, 9, 9] w5 = {W5}
>
{
  c0 = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w0)
  a0 = Relu (c0)
  p0 = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (a0)
  c1 = Conv (p0, w1)
  a1 = Relu (c1)
  c2 = Conv <group = 96, pads = [1, 1, 1, 1]> (a1, w2)
  a2 = Relu (c2)
  m = GlobalAveragePool (a2)
  s1 = Conv (m, r)
  s2 = Relu (s1)
  s3 = Conv (s2, e)
  s4 = Sigmoid (s3)
  g = Mul (a2, s4)
  c3 = Conv (g, w3)
  sum = Add (c3, p0)
  c4 = Conv <dilations = [12, 12], pads = [12, 12, 12, 12]> (sum, w4)
  y = Conv <group = 24, pads = [4, 4, 4, 4]> (c4, w5)
}
)";

std::string network() {
  std::string text = kNetwork;
  int seed = 3;
  const auto fill = [&](const char* name, int64_t count) {
    std::string numbers;
    for (int64_t i = 0; i < count; ++i) numbers += (i ? ", " : "") + std::to_string(static_cast<double>(i * seed % 19 - 9) / 64);
    text.replace(text.find(std::string("{") + name) + 1, 2, numbers);
    seed += 2;
  };
  fill("W0", 24 * 27);
  fill("W1", 96 * 24);
  fill("W2", 96 * 9);
  fill("R0", 8 * 96);
  fill("E0", 96 * 8);
  fill("W3", 24 * 96);
  fill("W4", 24 * 24 * 9);
  fill("W5", 24 * 81);
  return text;
}

Tensor images(const Shape& shape) {
  Tensor x(DType::float32, shape);
  for (int64_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = static_cast<float>(i * 31 % 101 - 50) / 32;
  return x;
}

/// The operators of a run, and how each is computed.
class Operators final : public RunObserver {
 public:
  void after_step(const StepEvent& event) override { names.push_back(event.node.op_type); }
  bool has(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
  std::vector<std::string> names;
};

TEST(OpenImages, of_all_sizes_give_what_plain_operators_do) {
  SessionOptions plain_options;
  plain_options.optimization_level = OptimizationLevel::none;
  SessionOptions options;
  options.intra_op_threads = 2;
  const auto plain = make_session(network(), plain_options), fast = make_session(network(), options);
  for (const Shape& shape : {Shape{1, 3, 1, 1}, Shape{1, 3, 2, 5}, Shape{2, 3, 33, 17}, Shape{1, 3, 96, 130}, Shape{1, 3, 7, 300},
                             Shape{3, 3, 64, 64}, Shape{0, 3, 8, 8}, Shape{1, 3, 2, 5}}) {
    const auto expected = run(*plain, {{"x", images(shape)}}, {"y"}), found = run(*fast, {{"x", images(shape)}}, {"y"});
    ASSERT_EQ(found[0].tensor().shape(), expected[0].tensor().shape());
    const std::vector<float> y = elements(found[0]), right = elements(expected[0]);
    float most = 0, off = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      most = std::max(most, std::abs(right[i]));
      off = std::max(off, std::abs(y[i] - right[i]));
    }
    EXPECT_LE(off, 1e-5f * most) << shape.to_string();
  }
}

TEST(OpenImages, are_computed_as_those_of_known_size) {
  const auto observer = std::make_shared<Operators>();
  RunOptions watched;
  watched.observer = observer;
  run(*make_session(network()), {{"x", images({1, 3, 64, 64})}}, {"y"}, watched);
  EXPECT_TRUE(observer->has("PooledConv"));
  EXPECT_FALSE(observer->has("MaxPool"));
}

}  // namespace
}  // namespace rh::test
