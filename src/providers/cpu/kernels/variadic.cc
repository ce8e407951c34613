#include "ops/math/variadic.h"

#include <bit>

#include "compute/elementwise/register_chain.h"
#include "compute/elementwise/scaled_sums.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

namespace {

using F = ops::Variadic::Function;

// Integers and double.
template <typename T>
BinaryRow variadic_row(F function) {
  using compute::Arithmetic;
  if constexpr (kHasNumberRows<T>) {
    if (function == F::max) return number_row<Arithmetic::max, dtype_of<T>>;
    if (function == F::min) return number_row<Arithmetic::min, dtype_of<T>>;
    return std::is_integral_v<T> ? nullptr : number_row<Arithmetic::add, dtype_of<T>>;
  }
  switch (function) {
    case F::max: return binary_row<T, T, T>([](T a, T b) { return a > b || a != a ? a : b; });
    case F::min: return binary_row<T, T, T>([](T a, T b) { return a < b || a != a ? a : b; });
    default: return nullptr;
  }
}

BinaryRow float_row(F function, DType dtype) {
  using compute::Binary;
  switch (function) {
    case F::max: return float_binary_row<Binary::max>(dtype);
    case F::min: return float_binary_row<Binary::min>(dtype);
    default: return float_binary_row<Binary::add>(dtype);
  }
}

template <typename T>
BinaryRow typed_row(F function) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
    return variadic_row<T>(function);
  } else {
    return float_row(function, dtype_of<T>);
  }
}

template <typename T>
void divide(const Parallel& parallel, T* values, int64_t count, int divisor) {
  parallel.for_range(count, {2.0 * sizeof(T), 1}, [&](Range part) {
    T* const from = values + part.begin;
    if constexpr (sizeof(T) == 2) {
      const float by = static_cast<float>(divisor);
      constexpr int64_t kPiece = 512;
      float wide[kPiece];
      for (int64_t i = 0; i < part.size(); i += kPiece) {
        const int64_t n = std::min(kPiece, part.size() - i);
        compute::widen(from + i, wide, n);
        compute::binary_scalar(compute::Binary::div, wide, by, wide, n);
        compute::narrow(wide, from + i, n);
      }
    } else {
      for (int64_t i = 0; i < part.size(); ++i) from[i] = from[i] / static_cast<T>(divisor);
    }
  });
}

}  // namespace

BinaryRow row_of(F function, DType dtype) {
  return row_by_type<NumericTypes, BinaryRow>(dtype, [&]<typename T>() { return typed_row<T>(function); });
}

class VariadicKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit VariadicKernel(const KernelInfo& info) : op_(info.attributes<ops::Variadic>()) {
    // The first step writes the output, so it may take the place of the first two inputs only where no later one is the same value.
    const std::vector<ValueId>& inputs = info.node().node().inputs;
    for (size_t i = 2; i < inputs.size(); ++i) in_place_ = in_place_ && inputs[i] != inputs[0] && inputs[i] != inputs[1];
  }

  Status run(RunContext& context) const override {
    const TensorView first = context.input(0);
    Shape shape = first.shape();
    for (int i = 1; i < context.input_count(); ++i) shape = broadcast(shape, context.input(i).shape());
    const MutableView out = context.output(0, first.dtype(), shape);
    if (context.input_count() == 1) {
      copy_elements(first, out);
      return {};
    }
    const bool is_binary = context.input_count() == 2 && op_.function != F::mean;
    if (first.dtype() == DType::float32 && op_.function == F::mean && context.input_count() == 2 && has_one_shape(context)) {
      context.parallel().for_range(out.elements(), {12, 2}, [&](Range part) {
        const int64_t at = part.begin;
        compute::scaled_sum(first.data<float>() + at, context.input(1).data<float>() + at, 0.5f, out.data<float>() + at, part.size());
      });
      return {};
    }
    if (first.dtype() == DType::float32 && !is_binary && has_one_shape(context)) {
      run_as_chain(context, out);
      return {};
    }
    return dispatch<Types>(first.dtype(), "Variadic", [&]<typename T>() -> Status {
      const BinaryRow row = typed_row<T>(op_.function);
      if (!row) return error_status(ErrorCode::not_implemented, "element type {} is not one of this operator's", to_string(dtype_of<T>));
      run_binary(context.parallel(), row, first, context.input(1), out);
      for (int i = 2; i < context.input_count(); ++i) run_binary(context.parallel(), row, out, context.input(i), out);
      if constexpr (!std::is_integral_v<T>) {
        if (op_.function == F::mean) divide(context.parallel(), out.data<T>(), out.elements(), context.input_count());
      }
      return {};
    });
  }

  std::span<const Alias> aliases() const override {
    if (in_place_) return kInPlaceOfEither;
    return {};
  }

 private:
  static bool has_one_shape(const RunContext& context) {
    for (int i = 1; i < context.input_count(); ++i)
      if (!(context.input(i).shape() == context.input(0).shape())) return false;
    return true;
  }

  /// Floats of one shape, which go through registers once; more inputs than a chain takes in turns.
  void run_as_chain(RunContext& context, const MutableView& out) const {
    using compute::ChainOp;
    const int inputs = context.input_count();
    const ChainOp op = op_.function == F::max ? ChainOp::max : op_.function == F::min ? ChainOp::min : ChainOp::add;
    const bool is_mean = op_.function == F::mean;
    const auto divisor = static_cast<float>(inputs);
    // Half of a float, a quarter and so on are the same as its quotients.
    const bool halves = std::has_single_bit(static_cast<unsigned>(inputs));
    const float scale = halves ? 1 / divisor : divisor;
    constexpr int kMost = compute::kMaxChainInputs - 2;  // beside the result of the turn before and the divisor
    const double bytes = sizeof(float) * (inputs + 1.0);
    const bool far = compute::chain_is_far(inputs, bytes * static_cast<double>(out.elements()));
    context.parallel().for_range(out.elements(), {bytes, static_cast<double>(inputs)}, [&](Range part) {
      float* y = out.data<float>() + part.begin;
      for (int next = 0; next < inputs;) {
        compute::ChainInput values[compute::kMaxChainInputs];
        compute::ChainStep steps[compute::kMaxChainInputs];
        uint8_t count = 0;
        const auto take = [&](ChainOp step, const float* data, int64_t step_of_data) {
          values[count] = {data, step_of_data};
          steps[count] = {step, count};
          ++count;
        };
        if (next > 0) take(ChainOp::load, y, 1);
        for (const int end = std::min(inputs, next + kMost); next < end; ++next)
          take(count == 0 ? ChainOp::load : op, context.input(next).data<float>() + part.begin, 1);
        if (is_mean && next == inputs) take(halves ? ChainOp::mul : ChainOp::div, &scale, 0);
        compute::run_chain({steps, count}, {values, count}, y, part.size(), far);
      }
    });
  }

  ops::Variadic op_;
  bool in_place_ = true;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(VariadicKernel)
