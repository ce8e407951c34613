#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// Products of matrices that are gathered, on either side, and of vectors that share them.
constexpr const char* kProducts = R"(<opset_import: ["" : 17]>
g (float[b, 70, 1] x, float[b, 1, 70] v, int64[t] i, int64[t, 1] k) => (float[c, 40, 1] left, float[c, 1, 40] right)
<
  float[3, 40, 70] l = {LEFT}, float[3, 70, 40] r = {RIGHT}
>
{
  ml = Gather (l, i)
  left = MatMul (ml, x)
  mr = GatherND (r, k)
  right = MatMul (v, mr)
}
)";

std::string numbers(int64_t count, int64_t step) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(i * step % 23 - 11);
  return text;
}

std::unique_ptr<Session> session_of(OptimizationLevel level, int threads = 1) {
  std::string text = kProducts;
  text.replace(text.find("LEFT"), 4, numbers(3 * 40 * 70, 7));
  text.replace(text.find("RIGHT"), 5, numbers(3 * 40 * 70, 5));
  SessionOptions options;
  options.optimization_level = level;
  options.intra_op_threads = threads;
  return make_session(text, options);
}

Tensor vectors(Shape shape) {
  Tensor x(DType::float32, std::move(shape));
  for (int64_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = static_cast<float>(i * 13 % 17 - 8);
  return x;
}

// Whole numbers, whose sums are exact.
TEST(GatheredProducts, give_what_products_of_copies_do) {
  const auto joined = session_of(OptimizationLevel::all), apart = session_of(OptimizationLevel::basic);
  EXPECT_EQ(joined->statistics().nodes, 2);
  EXPECT_EQ(apart->statistics().nodes, 4);
  const std::vector<std::vector<int64_t>> cases = {{0}, {-1}, {2, 0, 1, 0, -3, 2, 2}, {1, 1, 1, 1}, {0, 0, 2, 2, 2}, {}};
  for (const auto& chosen : cases) {
    const auto count = static_cast<int64_t>(chosen.size());
    for (const int64_t given : {count, int64_t{1}, int64_t{5}}) {
      if (given != count && given != 1 && count != 1) continue;
      const std::vector<std::pair<const char*, Value>> inputs = {{"x", vectors({given, 70, 1})},
                                                                 {"v", vectors({given, 1, 70})},
                                                                 {"i", Tensor::from<int64_t>({count}, chosen)},
                                                                 {"k", Tensor::from<int64_t>({count, 1}, chosen)}};
      const auto expected = run(*apart, inputs, {"left", "right"}), found = run(*joined, inputs, {"left", "right"});
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(found[i].tensor().shape(), expected[i].tensor().shape());
        EXPECT_EQ(elements(found[i]), elements(expected[i])) << count << " matrices, " << given << " vectors, output " << i;
      }
    }
  }
}

TEST(GatheredProducts, refuse_indices_and_vectors_that_do_not_fit) {
  const auto joined = session_of(OptimizationLevel::all, 2);
  const auto fails = [&](int64_t given, std::vector<int64_t> chosen, const char* what) {
    const auto count = static_cast<int64_t>(chosen.size());
    const Status status = try_run(*joined,
                                  {{"x", vectors({given, 70, 1})},
                                   {"v", vectors({given, 1, 70})},
                                   {"i", Tensor::from<int64_t>({count}, chosen)},
                                   {"k", Tensor::from<int64_t>({count, 1}, chosen)}},
                                  {"left", "right"});
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
  };
  fails(2, {0, 3}, "3");
  fails(2, {-4, 0}, "-4");
  fails(2, {0, 1, 2}, "3 indices");
}

}  // namespace
}  // namespace rh::test
