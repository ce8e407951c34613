#include "ops/nn/dropout.h"

#include <algorithm>
#include <random>

#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/random_source.h"

namespace rh::cpu {

/// A copy outside training. In training elements are dropped by a Mersenne Twister seeded with `seed`, or anew each run where that is
/// absent; it gives the numbers that the standard's reference gives.
class DropoutKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, Float8Types>;

  explicit DropoutKernel(const KernelInfo& info) : op_(info.attributes<ops::Dropout>()), source_(info, std::nullopt) {}

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::view}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    for (int i = 1; i <= 2 && op_.inputs; ++i) {
      if (!context.has_input(i) || context.input(i).elements() == 1) continue;
      return error_status(ErrorCode::invalid_argument, "Dropout: input {} has shape {}, expected one element", i,
                          context.input(i).shape().to_string());
    }
    const double ratio = op_.inputs && context.has_input(1) ? element_as_double(context.input(1), 0) : static_cast<double>(op_.ratio);
    const bool training = op_.inputs && context.has_input(2) && context.input(2).data<bool>()[0];
    if (training && !(ratio >= 0 && ratio < 1))
      return error_status(ErrorCode::invalid_argument, "Dropout: ratio is {}, expected a value in [0, 1)", ratio);
    if (!training || ratio == 0) {
      context.output_view(0, 0, x.shape());
      if (context.has_output(1)) fill_mask(context.output(1, x.shape()));
      return {};
    }
    std::vector<bool> keep(static_cast<size_t>(x.elements()));
    std::mt19937 random(op_.has_seed ? static_cast<uint32_t>(op_.seed) : source_.next_seed());
    for (size_t i = 0; i < keep.size(); ++i) keep[i] = uniform(random) >= ratio;
    if (context.has_output(1)) {
      const MutableView mask = context.output(1, DType::boolean, x.shape());
      std::copy(keep.begin(), keep.end(), mask.data<bool>());
    }
    Tensor result(x.dtype(), x.shape());
    RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "Dropout", [&]<typename T>() {
      for (size_t i = 0; i < keep.size(); ++i) {
        result.data<T>()[i] = keep[i] ? narrowed<T>(static_cast<double>(x.data<T>()[i]) / (1 - ratio)) : narrowed<T>(0.0);
      }
    }));
    context.set_output(0, std::move(result));
    return {};
  }

 private:
  /// In [0, 1), of 53 bits out of two numbers.
  static double uniform(std::mt19937& random) {
    const uint64_t high = random() >> 5, low = random() >> 6;
    return static_cast<double>(high << 26 | low) / static_cast<double>(uint64_t{1} << 53);
  }

  static void fill_mask(const MutableView& mask) {
    if (mask.dtype() == DType::boolean) {
      std::fill_n(mask.data<bool>(), mask.elements(), true);
      return;
    }
    dispatch_or_throw<Types>(mask.dtype(), "Dropout", [&]<typename T>() { std::fill_n(mask.data<T>(), mask.elements(), T(1.0f)); });
  }

  ops::Dropout op_;
  RandomSource source_;  ///< where the node has no seed
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DropoutKernel)
