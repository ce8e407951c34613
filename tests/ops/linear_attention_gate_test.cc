#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

Input f32(Shape shape) { return normal(std::move(shape)).as(DType::float32); }

const std::vector<OpCase> kLinearAttentionGate = {
    contributed({}, {normal({2, 3, 5}), f32({5}), f32({5}), normal({2, 3, 5})}, "both", {}, 2),
    contributed({}, {uniform({1, 4, 2}, -30, 30), f32({2}), f32({2})}, "decay alone, over all of its range"),
    contributed({}, {normal({2, 0, 5}), f32({5}), f32({5}), normal({2, 0, 5})}, "no tokens", {}, 2),
    contributed({}, {normal({2, 3, 5}), f32({5}), f32({5})}, "no b", {"beta is wanted"}, 2),
    contributed({}, {normal({2, 3, 5}), f32({4}), f32({5})}, "heads", {"dt_bias has shape [4]", "[5]"}),
};
RH_OP_TEST(LinearAttentionGate, kLinearAttentionGate, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
