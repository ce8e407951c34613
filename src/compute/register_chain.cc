#include "compute/register_chain.h"

#include <algorithm>
#include <cstring>

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/register_chain.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "compute/vector_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Floats()));
constexpr int64_t kVectors = 8;  // of a block, which the value at hand has in registers
constexpr int64_t kBlock = kVectors * kLanes;

/// Vectors that are variables of their own, so that compilers keep them in registers.
struct Block {
  Vec v0, v1, v2, v3, v4, v5, v6, v7;
};

HWY_INLINE void store_block(const Block& x, float* to) {
  const Floats d;
  hn::StoreU(x.v0, d, to);
  hn::StoreU(x.v1, d, to + kLanes);
  hn::StoreU(x.v2, d, to + 2 * kLanes);
  hn::StoreU(x.v3, d, to + 3 * kLanes);
  hn::StoreU(x.v4, d, to + 4 * kLanes);
  hn::StoreU(x.v5, d, to + 5 * kLanes);
  hn::StoreU(x.v6, d, to + 6 * kLanes);
  hn::StoreU(x.v7, d, to + 7 * kLanes);
}

template <typename F>
HWY_INLINE Block each(const Block& x, F f) {
  return {f(x.v0), f(x.v1), f(x.v2), f(x.v3), f(x.v4), f(x.v5), f(x.v6), f(x.v7)};
}
/// f of each vector and what lies at its place in an operand.
template <typename F>
HWY_INLINE Block each(const Block& x, const float* a, F f) {
  const auto at = [a](int64_t vector) HWY_ATTR { return hn::LoadU(Floats(), a + vector * kLanes); };
  return {f(x.v0, at(0)), f(x.v1, at(1)), f(x.v2, at(2)), f(x.v3, at(3)), f(x.v4, at(4)), f(x.v5, at(5)), f(x.v6, at(6)), f(x.v7, at(7))};
}
template <typename F>
HWY_INLINE Block each(const Block& x, const float* a, const float* b, F f) {
  const auto at = [](const float* from, int64_t vector) HWY_ATTR { return hn::LoadU(Floats(), from + vector * kLanes); };
  return {f(x.v0, at(a, 0), at(b, 0)), f(x.v1, at(a, 1), at(b, 1)), f(x.v2, at(a, 2), at(b, 2)), f(x.v3, at(a, 3), at(b, 3)),
          f(x.v4, at(a, 4), at(b, 4)), f(x.v5, at(a, 5), at(b, 5)), f(x.v6, at(a, 6), at(b, 6)), f(x.v7, at(a, 7), at(b, 7))};
}

/// Truth values fill their lanes' bits.
HWY_INLINE Vec truth(Mask mask) { return hn::VecFromMask(Floats(), mask); }
HWY_INLINE Vec choice(Vec condition, Vec x, Vec y) { return hn::IfThenElse(hn::MaskFromVec(condition), x, y); }

/// A step and where its operands' blocks lie, which move from block to block or stay.
struct PlacedStep {
  ChainOp op;
  float alpha, beta;
  float *a, *b;
  int64_t move_a, move_b;
};

HWY_INLINE Block one_step(const PlacedStep& step, const Block& v) {
  const float alpha = step.alpha, beta = step.beta;
#define RH_WITH(expression) each(v, step.a, [](Vec x, Vec a) HWY_ATTR { return expression; })
#define RH_CHOICE(expression) each(v, step.a, step.b, [](Vec x, Vec a, Vec b) HWY_ATTR { return expression; })
#define RH_ALONE(expression) each(v, [=](Vec x) HWY_ATTR { return expression; })
  switch (step.op) {
    case ChainOp::load: return RH_WITH(a);
    case ChainOp::keep: store_block(v, step.a); return v;
    case ChainOp::add: return RH_WITH(hn::Add(x, a));
    case ChainOp::sub: return RH_WITH(hn::Sub(x, a));
    case ChainOp::sub_from: return RH_WITH(hn::Sub(a, x));
    case ChainOp::mul: return RH_WITH(hn::Mul(x, a));
    case ChainOp::square: return RH_ALONE(hn::Mul(x, x));
    case ChainOp::div: return RH_WITH(hn::Div(x, a));
    case ChainOp::div_into: return RH_WITH(hn::Div(a, x));
    case ChainOp::min: return RH_WITH(applied<Binary::min>(x, a));
    case ChainOp::min_from: return RH_WITH(applied<Binary::min>(a, x));
    case ChainOp::max: return RH_WITH(applied<Binary::max>(x, a));
    case ChainOp::max_from: return RH_WITH(applied<Binary::max>(a, x));
    case ChainOp::equal: return RH_WITH(truth(hn::Eq(x, a)));
    case ChainOp::less: return RH_WITH(truth(hn::Lt(x, a)));
    case ChainOp::more: return RH_WITH(truth(hn::Lt(a, x)));
    case ChainOp::less_equal: return RH_WITH(truth(hn::Le(x, a)));
    case ChainOp::more_equal: return RH_WITH(truth(hn::Le(a, x)));
    case ChainOp::choose: return RH_CHOICE(choice(x, a, b));
    case ChainOp::choose_first: return RH_CHOICE(choice(a, x, b));
    case ChainOp::choose_other: return RH_CHOICE(choice(a, b, x));
    case ChainOp::neg: return RH_ALONE(hn::Neg(x));
    case ChainOp::abs: return RH_ALONE(hn::Abs(x));
    case ChainOp::sign: return RH_ALONE(sign(x));
    case ChainOp::sqrt: return RH_ALONE(hn::Sqrt(x));
    case ChainOp::reciprocal: return RH_ALONE(reciprocal(x));
    case ChainOp::floor: return RH_ALONE(hn::Floor(x));
    case ChainOp::ceil: return RH_ALONE(hn::Ceil(x));
    case ChainOp::round: return RH_ALONE(hn::Round(x));
    case ChainOp::relu: return RH_ALONE(relu(x));
    case ChainOp::leaky_relu: return RH_ALONE(leaky_relu(x, alpha));
    case ChainOp::hard_swish: return RH_ALONE(hard_swish(x));
    case ChainOp::hard_sigmoid: return RH_ALONE(hard_sigmoid(x, alpha, beta));
    case ChainOp::softsign: return RH_ALONE(softsign(x));
    case ChainOp::exp: return RH_ALONE(simd_exp(x));
    case ChainOp::log: return RH_ALONE(simd_log(x));
    case ChainOp::tanh: return RH_ALONE(simd_tanh(x));
    case ChainOp::sigmoid: return RH_ALONE(simd_sigmoid(x));
    case ChainOp::erf: return RH_ALONE(simd_erf(x));
    case ChainOp::clip: return RH_ALONE(clamped(x, set(alpha), set(beta)));
  }
  return v;
#undef RH_WITH
#undef RH_CHOICE
#undef RH_ALONE
}

HWY_NOINLINE void run_blocks(std::span<PlacedStep> steps, float* y, int64_t blocks) {
  for (int64_t block = 0; block < blocks; ++block, y += kBlock) {
    const Vec zero = hn::Zero(Floats());
    Block v{zero, zero, zero, zero, zero, zero, zero, zero};
    for (PlacedStep& step : steps) {
      v = one_step(step, v);
      step.a += step.move_a;
      step.b += step.move_b;
    }
    store_block(v, y);
  }
}

void run_chain_loop(std::span<const ChainStep> steps, std::span<const ChainInput> inputs, float* y, int64_t count) {
  HWY_ALIGN float copies[kMaxChainInputs * kBlock];  // of single elements, spread out; then of what is left after whole blocks
  HWY_ALIGN float kept[kMaxKeptValues * kBlock];
  PlacedStep placed[kMaxChainSteps];
  const auto place_of = [&](uint8_t operand, float*& place, int64_t& move) {
    move = 0;
    if (operand >= kMaxChainInputs) {
      place = kept + (operand - kMaxChainInputs) * kBlock;
    } else if (inputs[operand].step == 0) {
      place = copies + operand * kBlock;
    } else {
      place = const_cast<float*>(inputs[operand].data);  // which steps only read
      move = kBlock;
    }
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].step == 0) std::fill_n(copies + static_cast<int64_t>(i) * kBlock, kBlock, *inputs[i].data);
  for (size_t i = 0; i < steps.size(); ++i) {
    placed[i] = {steps[i].op, steps[i].alpha, steps[i].beta, nullptr, nullptr, 0, 0};
    place_of(steps[i].a, placed[i].a, placed[i].move_a);
    place_of(steps[i].b, placed[i].b, placed[i].move_b);
  }
  const int64_t blocks = count / kBlock, done = blocks * kBlock;
  run_blocks({placed, steps.size()}, y, blocks);
  if (done == count) return;
  const auto rest = static_cast<size_t>(count - done);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].step == 0) continue;
    float* to = copies + static_cast<int64_t>(i) * kBlock;
    std::memcpy(to, inputs[i].data + done, rest * sizeof(float));
    std::fill(to + rest, to + kBlock, 0.0f);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (placed[i].move_a > 0) placed[i].a = copies + steps[i].a * kBlock;
    if (placed[i].move_b > 0) placed[i].b = copies + steps[i].b * kBlock;
  }
  HWY_ALIGN float results[kBlock];
  run_blocks({placed, steps.size()}, results, 1);
  std::memcpy(y + done, results, rest * sizeof(float));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(run_chain_loop);

void run_chain(std::span<const ChainStep> steps, std::span<const ChainInput> inputs, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(run_chain_loop)(steps, inputs, y, count);
}

}  // namespace rh::compute
#endif
