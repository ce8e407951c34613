#include "ops/math/clip.h"

#include "compute/elementwise/activation.h"
#include "providers/cpu/element_rows.h"
#include "tensor/narrowed.h"

namespace rh::cpu {

namespace {

// A NaN stays one; the upper bound has the last word.
template <typename T>
void clip_row(const T* x, T* y, int64_t count, T low, T high) {
  if constexpr (std::is_same_v<T, float>) {
    if (low <= high) return compute::activate({compute::ActivationKind::clip, low, high}, x, y, count);
  }
  if constexpr (kHasNumberRows<T>) return compute::clip(dtype_of<T>, x, &low, &high, y, count);
  using Wide = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;
  const Wide least = low, most = high;
  fill_row(y, count, [=](int64_t i) {
    Wide value = x[i];
    value = value < least ? least : value;
    return T(value > most ? most : value);
  });
}

}  // namespace

UnaryRow clip_row(DType dtype) {
  if (dtype != DType::float32 && dtype != DType::float16 && dtype != DType::bfloat16) return nullptr;
  return [](const void* x, void* y, int64_t count, const float* bounds) {
    clip_row(static_cast<const float*>(x), static_cast<float*>(y), count, bounds[0], bounds[1]);
  };
}

class ClipKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit ClipKernel(const KernelInfo& info) : op_(info.attributes<ops::Clip>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.dtype(), x.shape());
    for (int i = 1; i <= 2 && op_.bounds_are_inputs; ++i) {
      if (!context.has_input(i) || context.input(i).elements() == 1) continue;
      return error_status(ErrorCode::invalid_argument, "Clip: input {} has shape {}, expected one element", i,
                          context.input(i).shape().to_string());
    }
    return dispatch<Types>(x.dtype(), "Clip", [&]<typename T>() {
      const T low = bound<T>(context, 1, op_.min), high = bound<T>(context, 2, op_.max);
      context.parallel().for_range(x.elements(), {2.0 * sizeof(T), 2}, [&](Range part) {
        clip_row(x.data<T>() + part.begin, y.data<T>() + part.begin, part.size(), low, high);
      });
    });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  /// The lower one is input 1.
  template <typename T>
  T bound(RunContext& context, int i, std::optional<float> attribute) const {
    if (op_.bounds_are_inputs && context.has_input(i)) return *context.input(i).data<T>();
    if (attribute) return narrowed<T>(*attribute);
    if constexpr (std::is_integral_v<T>) {
      return i == 1 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    } else {
      const double most = op_.most(dtype_of<T>);
      return narrowed<T>(i == 1 ? -most : most);
    }
  }

  ops::Clip op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ClipKernel)
