#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kTraining[] = "ai.onnx.preview.training";

Input rate() { return values({}, {0.1}); }
Input count(int64_t value) { return values({}, {static_cast<double>(value)}).as(DType::int64); }

const std::vector<OpCase> kOptimizer = {
    {1,
     {attr("norm_coefficient", 0.001f), attr("epsilon", 1e-5f), attr("decay_factor", 0.1f)},
     {rate(), count(0), values({2}, {1, 2}), values({2}, {-1, -3}), values({2}, {2, 0.5})},
     "Adagrad",
     {},
     2,
     0,
     kTraining,
     "Adagrad"},
    {1,
     {attr("alpha", 0.95f), attr("beta", 0.1f), attr("norm_coefficient", 0.001f)},
     {rate(), count(3), normal({1, 2}), normal({3}), normal({1, 2}), normal({3}), normal({1, 2}), normal({3}), uniform({1, 2}, 1, 2),
      uniform({3}, 1, 2)},
     "Adam, two tensors",
     {},
     6,
     0,
     kTraining,
     "Adam"},
    {1,
     {attr("alpha", 0.95f), attr("beta", 1.0f), attr("norm_coefficient", 0.01f), attr("mode", "nesterov")},
     {rate(), count(1), normal({4}), normal({4}), normal({4})},
     "Nesterov's momentum",
     {},
     2,
     0,
     kTraining,
     "Momentum"},
    {1,
     {attr("alpha", 0.95f), attr("beta", 1.0f), attr("norm_coefficient", 0.01f), attr("mode", "heavy")},
     {rate(), count(1), normal({4}), normal({4}), normal({4})},
     "unknown mode",
     {"heavy", "nesterov"},
     2,
     0,
     kTraining,
     "Momentum"},
    {1, {}, {rate(), count(1), normal({4}), normal({3}), normal({4})}, "another shape", {"[3]", "[4]"}, 2, 0, kTraining, "Adagrad"},
    {1, {}, {rate(), count(1), normal({4}), normal({4})}, "no state", {"4 inputs"}, 2, 0, kTraining, "Adagrad"},
};
RH_OP_TEST(Optimizer, kOptimizer, (Types<float, double>::set))

}  // namespace
}  // namespace rh::test
