#include "ops/nn/moe_group_router.h"

#include <algorithm>
#include <cmath>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/matrix_vector.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class MoEGroupRouterKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit MoEGroupRouterKernel(const KernelInfo& info) : op_(info.attributes<ops::MoEGroupRouter>()) {}

  Status run(RunContext& context) const override {
    const Shape &x = context.input(0).shape(), &bias = context.input(1).shape();
    const bool projected = context.has_input(2);
    if (projected ? x.rank() != 2 : x.rank() < 1)
      return wrong("logits have shape {}, expected [tokens, {}]", x.to_string(), projected ? "width" : "experts");
    const int64_t width = x[x.rank() - 1];
    if (projected && (context.input(2).rank() != 2 || context.input(2).shape()[1] != width)) {
      return wrong("projection_weight has shape {}, expected [experts, {}]", context.input(2).shape().to_string(), width);
    }
    const int64_t rows = x.product(0, x.rank() - 1), experts = projected ? context.input(2).shape()[0] : width;
    if (!(bias == Shape{experts}))
      return wrong("expert_bias has shape {}, expected [{}], a number for each expert", bias.to_string(), experts);
    const float* logits = converted(context, context.input(0), DType::float32).data<float>();
    if (projected) logits = project(context, logits, rows, width, experts);
    const float* added = context.input(1).data<float>();
    if (!context.has_output(0)) {
      write_scores(context, logits, added, rows, experts);
      return {};
    }
    if (experts % op_.groups != 0 || op_.top_k > experts / op_.groups * op_.chosen) {
      return wrong("top_k is {} and n_group {}, expected groups of the same size and at most so many as {} of them have of {} experts",
                   op_.top_k, op_.groups, op_.chosen, experts);
    }
    const ConvertedOutput y(context, 0, {rows, experts}, DType::float32);
    const auto size = static_cast<double>(experts);
    context.parallel().for_range(rows, {8 * size, 40 * size}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) route(logits + row * experts, added, experts, y.data<float>() + row * experts);
    });
    y.store(context.parallel());
    return {};
  }

 private:
  template <typename... Args>
  static Status wrong(fmt::format_string<Args...> text, Args&&... args) {
    return error_status(ErrorCode::invalid_argument, "MoEGroupRouter: {}", fmt::format(text, std::forward<Args>(args)...));
  }

  static const float* project(RunContext& context, const float* x, int64_t rows, int64_t width, int64_t experts) {
    const float* weight = converted(context, context.input(2), DType::float32).data<float>();
    check_elements({rows, experts}, "MoEGroupRouter: output");
    float* const logits = context.scratch_array<float>(rows * experts);
    const double size = static_cast<double>(width) * static_cast<double>(experts);
    context.parallel().for_range(rows, {4 * size, 2 * size}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        compute::matrix_vector(weight, x + row * width, logits + row * experts, experts, width);
      }
    });
    return logits;
  }

  static void write_scores(RunContext& context, const float* logits, const float* bias, int64_t rows, int64_t experts) {
    float *const scores = context.output(1, {rows, experts}).data<float>(), *const weights =
                                                                                context.output(2, {rows, experts}).data<float>();
    const auto size = static_cast<double>(experts);
    context.parallel().for_range(rows, {12 * size, 20 * size}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        float* const to = weights + row * experts;
        compute::unary(compute::Unary::sigmoid, logits + row * experts, to, experts);
        compute::binary(compute::Binary::add, to, bias, scores + row * experts, experts);
      }
    });
  }

  /// The order of the best: larger first, of equals the earlier one; what is no number comes last.
  static auto better(const float* scores) {
    return [scores](int32_t a, int32_t b) {
      const bool numbers = !std::isnan(scores[a]) && !std::isnan(scores[b]);
      if (!numbers) return std::isnan(scores[a]) != std::isnan(scores[b]) ? std::isnan(scores[b]) : a < b;
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    };
  }

  void route(const float* logits, const float* bias, int64_t experts, float* y) const {
    const std::span<float> floats = thread_list<float>(ThreadList::first, 2 * experts + op_.groups);
    float *const sigmoids = floats.data(), *const scores = sigmoids + experts, *const sums = scores + experts;
    compute::unary(compute::Unary::sigmoid, logits, sigmoids, experts);
    compute::binary(compute::Binary::add, sigmoids, bias, scores, experts);
    const std::span<int32_t> order = thread_list<int32_t>(ThreadList::second, experts + op_.groups);
    int32_t *const candidates = order.data(), *const groups = candidates + experts;
    const int64_t size = experts / op_.groups, ranked = std::min(op_.group_experts, size);
    for (int64_t g = 0; g < op_.groups; ++g) {
      for (int64_t i = 0; i < size; ++i) candidates[i] = static_cast<int32_t>(g * size + i);
      std::partial_sort(candidates, candidates + ranked, candidates + size, better(scores));
      sums[g] = 0;
      for (int64_t i = 0; i < ranked; ++i) sums[g] += scores[candidates[i]];
      groups[g] = static_cast<int32_t>(g);
    }
    std::partial_sort(groups, groups + op_.chosen, groups + op_.groups, better(sums));
    for (int64_t i = 0; i < op_.chosen * size; ++i) candidates[i] = static_cast<int32_t>(groups[i / size] * size + i % size);
    std::partial_sort(candidates, candidates + op_.top_k, candidates + op_.chosen * size, better(scores));
    std::fill_n(y, experts, op_.sentinel);
    for (int64_t i = 0; i < op_.top_k; ++i) y[candidates[i]] = std::log(std::max(sigmoids[candidates[i]], 1e-20f));
  }

  ops::MoEGroupRouter op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MoEGroupRouterKernel)
