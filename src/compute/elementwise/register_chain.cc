#include "compute/elementwise/register_chain.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/cpu_features.h"
#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/register_chain.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_double-inl.h"
#include "compute/simd/vector_ops-inl.h"

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

HWY_INLINE Block load_block(const float* from) {
  const auto at = [from](int64_t vector) HWY_ATTR { return hn::LoadU(Floats(), from + vector * kLanes); };
  return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
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
template <typename F>
HWY_INLINE Block each(const Block& x, const float* a, const float* b, const float* c, F f) {
  const auto of = [=](Vec v, int64_t vector) HWY_ATTR {
    const int64_t at = vector * kLanes;
    return f(v, hn::LoadU(Floats(), a + at), hn::LoadU(Floats(), b + at), hn::LoadU(Floats(), c + at));
  };
  return {of(x.v0, 0), of(x.v1, 1), of(x.v2, 2), of(x.v3, 3), of(x.v4, 4), of(x.v5, 5), of(x.v6, 6), of(x.v7, 7)};
}

/// Truth values fill their lanes' bits.
HWY_INLINE Vec truth(Mask mask) { return hn::VecFromMask(Floats(), mask); }
HWY_INLINE Vec choice(Vec condition, Vec x, Vec y) { return hn::IfThenElse(hn::MaskFromVec(condition), x, y); }

/// Where an operand's blocks lie: one after the other, or all in one place.
struct Place {
  float* first;
  int64_t moves;  ///< all bits where they lie one after the other

  /// The block that begins `offset` floats behind the first.
  HWY_INLINE float* at(int64_t offset) const { return first + (offset & moves); }
};

struct PlacedStep {
  int op;
  float alpha, beta;
  Place a, b, c;
  const Divisor* divisor;  // of div, where it is one number
};

/// Steps whose operand a is one number for all have codes of their own: it is read once, not vector by vector.
constexpr int code(ChainOp op, bool one_number = false) { return 2 * static_cast<int>(op) + (one_number ? 1 : 0); }

HWY_INLINE Block divided(const Block& x, const Divisor& divisor) {
  Vec v[] = {x.v0, x.v1, x.v2, x.v3, x.v4, x.v5, x.v6, x.v7};
  divisor.divide(v);
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
}

HWY_INLINE Block silu(const Block& x) {
  Vec low[] = {x.v0, x.v1, x.v2, x.v3}, high[] = {x.v4, x.v5, x.v6, x.v7};
  simd_silu(low);
  simd_silu(high);
  return {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
}

/// Functions of long code are calls, so that they take no registers from the other steps.
using BlockVectors = Vec[kVectors];

HWY_NOINLINE void sin_of(BlockVectors& x) {
  for (Vec& v : x) v = simd_trigonometric<Trigonometric::sin>(v);
}
HWY_NOINLINE void cos_of(BlockVectors& x) {
  for (Vec& v : x) v = simd_trigonometric<Trigonometric::cos>(v);
}

HWY_INLINE Block called(const Block& x, void (*f)(BlockVectors&)) {
  Vec v[] = {x.v0, x.v1, x.v2, x.v3, x.v4, x.v5, x.v6, x.v7};
  f(v);
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
}

/// The step on the block that begins at element `at`.
HWY_INLINE Block one_step(const PlacedStep& step, int64_t at, const Block& v) {
  const float alpha = step.alpha, beta = step.beta;
#define RH_WITH(name, expression)                                                                            \
  case code(ChainOp::name): return each(v, step.a.at(at), [](Vec x, Vec a) HWY_ATTR { return expression; }); \
  case code(ChainOp::name, true): {                                                                          \
    const Vec a = set(*step.a.first);                                                                        \
    return each(v, [a](Vec x) HWY_ATTR { return expression; });                                              \
  }
#define RH_CHOICE(expression) each(v, step.a.at(at), step.b.at(at), [](Vec x, Vec a, Vec b) HWY_ATTR { return expression; })
#define RH_COMPARED(expression) \
  each(v, step.a.at(at), step.b.at(at), step.c.at(at), [](Vec x, Vec a, Vec b, Vec c) HWY_ATTR { return expression; })
#define RH_ALONE(expression) each(v, [=](Vec x) HWY_ATTR { return expression; })
  switch (step.op) {
    RH_WITH(load, a)
    RH_WITH(add, hn::Add(x, a))
    RH_WITH(sub, hn::Sub(x, a))
    RH_WITH(sub_from, hn::Sub(a, x))
    RH_WITH(mul, hn::Mul(x, a))
    RH_WITH(div_into, hn::Div(a, x))
    RH_WITH(min, applied<Binary::min>(x, a))
    RH_WITH(min_from, applied<Binary::min>(a, x))
    RH_WITH(max, applied<Binary::max>(x, a))
    RH_WITH(max_from, applied<Binary::max>(a, x))
    RH_WITH(equal, truth(hn::Eq(x, a)))
    RH_WITH(less, truth(hn::Lt(x, a)))
    RH_WITH(more, truth(hn::Lt(a, x)))
    RH_WITH(less_equal, truth(hn::Le(x, a)))
    RH_WITH(more_equal, truth(hn::Le(a, x)))
    case code(ChainOp::div): return each(v, step.a.at(at), [](Vec x, Vec a) HWY_ATTR { return hn::Div(x, a); });
    case code(ChainOp::div, true): return divided(v, *step.divisor);
    case code(ChainOp::keep): store_block(v, step.a.first); return v;
    case code(ChainOp::square): return RH_ALONE(hn::Mul(x, x));
    case code(ChainOp::choose): return RH_CHOICE(choice(x, a, b));
    case code(ChainOp::choose_first): return RH_CHOICE(choice(a, x, b));
    case code(ChainOp::choose_other): return RH_CHOICE(choice(a, b, x));
    case code(ChainOp::choose_if_equal): return RH_COMPARED(hn::IfThenElse(hn::Eq(a, b), x, c));
    case code(ChainOp::choose_if_less): return RH_COMPARED(hn::IfThenElse(hn::Lt(a, b), x, c));
    case code(ChainOp::choose_if_less_equal): return RH_COMPARED(hn::IfThenElse(hn::Le(a, b), x, c));
    case code(ChainOp::choose_unless_equal): return RH_COMPARED(hn::IfThenElse(hn::Eq(a, b), c, x));
    case code(ChainOp::choose_unless_less): return RH_COMPARED(hn::IfThenElse(hn::Lt(a, b), c, x));
    case code(ChainOp::choose_unless_less_equal): return RH_COMPARED(hn::IfThenElse(hn::Le(a, b), c, x));
    case code(ChainOp::neg): return RH_ALONE(hn::Neg(x));
    case code(ChainOp::abs): return RH_ALONE(hn::Abs(x));
    case code(ChainOp::sign): return RH_ALONE(sign(x));
    case code(ChainOp::sqrt): return RH_ALONE(hn::Sqrt(x));
    case code(ChainOp::reciprocal): return RH_ALONE(reciprocal(x));
    case code(ChainOp::floor): return RH_ALONE(hn::Floor(x));
    case code(ChainOp::ceil): return RH_ALONE(hn::Ceil(x));
    case code(ChainOp::round): return RH_ALONE(hn::Round(x));
    case code(ChainOp::relu): return RH_ALONE(relu(x));
    case code(ChainOp::leaky_relu): return RH_ALONE(leaky_relu(x, alpha));
    case code(ChainOp::hard_swish): return RH_ALONE(hard_swish(x));
    case code(ChainOp::hard_sigmoid): return RH_ALONE(hard_sigmoid(x, alpha, beta));
    case code(ChainOp::softsign): return RH_ALONE(softsign(x));
    case code(ChainOp::exp): return RH_ALONE(simd_exp(x));
    case code(ChainOp::log): return RH_ALONE(simd_log(x));
    case code(ChainOp::tanh): return RH_ALONE(simd_tanh(x));
    case code(ChainOp::sigmoid): return RH_ALONE(simd_sigmoid(x));
    case code(ChainOp::erf): return RH_ALONE(simd_erf(x));
    case code(ChainOp::silu): return silu(v);
    case code(ChainOp::sin): return called(v, sin_of);
    case code(ChainOp::cos): return called(v, cos_of);
    case code(ChainOp::clip): return RH_ALONE(clamped(x, set(alpha), set(beta)));
  }
  return v;
#undef RH_WITH
#undef RH_CHOICE
#undef RH_COMPARED
#undef RH_ALONE
}

/// What of the inputs is brought near while a block is at hand: all together no more than a part of the first-level cache.
class Ahead {
 public:
  explicit Ahead(std::span<const ChainInput> inputs) {
    for (const ChainInput& input : inputs)
      if (input.step != 0) inputs_[count_++] = input.data;
    offset_ = kBytesOfAll / std::max(count_, kLeastInputs) / static_cast<int64_t>(sizeof(float));
  }

  HWY_INLINE void fetch(int64_t at) const {
    for (int64_t line = at + offset_; line < at + offset_ + kBlock; line += kLine)
      for (int64_t i = 0; i < count_; ++i) __builtin_prefetch(inputs_[i] + line);
  }

 private:
  static constexpr int64_t kBytesOfAll = 8192, kLeastInputs = 2, kLine = 64 / sizeof(float);

  const float* inputs_[kMaxChainInputs];
  int64_t count_ = 0, offset_ = 0;
};

/// The first step is a load.
template <bool kIsFar>
HWY_NOINLINE void run_blocks(std::span<const PlacedStep> steps, const Ahead& ahead, float* y, int64_t blocks) {
  const std::span<const PlacedStep> others = steps.subspan(1);
  for (int64_t at = 0; at < blocks * kBlock; at += kBlock) {
    if constexpr (kIsFar) ahead.fetch(at);
    Block v = load_block(steps[0].a.at(at));
    for (const PlacedStep& step : others) v = one_step(step, at, v);
    store_block(v, y + at);
  }
}

/// Whether the step has a code for a number as its operand.
bool has_one_number(ChainOp op) {
  return op == ChainOp::load || (op >= ChainOp::add && op <= ChainOp::more_equal && op != ChainOp::square);
}

void run_chain_loop(std::span<const ChainStep> steps, std::span<const ChainInput> inputs, float* y, int64_t count, bool far) {
  HWY_ALIGN float copies[kMaxChainInputs * kBlock];  // of single elements, spread out; then of what is left after whole blocks
  HWY_ALIGN float kept[kMaxKeptValues * kBlock];
  PlacedStep placed[kMaxChainSteps];
  std::optional<Divisor> divisors[kMaxChainInputs];
  const auto place_of = [&](uint8_t operand) -> Place {
    if (operand >= kMaxChainInputs) return {kept + (operand - kMaxChainInputs) * kBlock, 0};
    if (inputs[operand].step == 0) return {copies + operand * kBlock, 0};
    return {const_cast<float*>(inputs[operand].data), -1};  // which steps only read
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].step == 0) std::fill_n(copies + static_cast<int64_t>(i) * kBlock, kBlock, *inputs[i].data);
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool one_number = has_one_number(steps[i].op) && steps[i].a < kMaxChainInputs && inputs[steps[i].a].step == 0;
    placed[i] = {.op = code(steps[i].op, one_number),
                 .alpha = steps[i].alpha,
                 .beta = steps[i].beta,
                 .a = place_of(steps[i].a),
                 .b = place_of(steps[i].b),
                 .c = place_of(steps[i].c),
                 .divisor = nullptr};
    if (steps[i].op == ChainOp::div && one_number) {
      placed[i].divisor = &divisors[steps[i].a].emplace(*inputs[steps[i].a].data);
    }
  }
  const int64_t blocks = count / kBlock, done = blocks * kBlock;
  const Ahead ahead(inputs);
  far ? run_blocks<true>({placed, steps.size()}, ahead, y, blocks) : run_blocks<false>({placed, steps.size()}, ahead, y, blocks);
  if (done == count) return;
  const auto rest = static_cast<size_t>(count - done);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].step == 0) continue;
    float* to = copies + static_cast<int64_t>(i) * kBlock;
    std::memcpy(to, inputs[i].data + done, rest * sizeof(float));
    std::fill(to + rest, to + kBlock, 0.0f);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (placed[i].a.moves) placed[i].a = {copies + steps[i].a * kBlock, 0};
    if (placed[i].b.moves) placed[i].b = {copies + steps[i].b * kBlock, 0};
    if (placed[i].c.moves) placed[i].c = {copies + steps[i].c * kBlock, 0};
  }
  HWY_ALIGN float results[kBlock];
  run_blocks<false>({placed, steps.size()}, ahead, results, 1);
  std::memcpy(y + done, results, rest * sizeof(float));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(run_chain_loop);

bool chain_is_far(int64_t streams, double bytes) {
  const auto second = static_cast<double>(cpu_features().l2_bytes), third = static_cast<double>(cpu_features().l3_bytes);
  return bytes > (streams > 1 ? 8 * second : std::min(third, 32 * second));
}

void run_chain(std::span<const ChainStep> steps, std::span<const ChainInput> inputs, float* y, int64_t count, bool far) {
  HWY_DYNAMIC_DISPATCH(run_chain_loop)(steps, inputs, y, count, far);
}

}  // namespace rh::compute
#endif
