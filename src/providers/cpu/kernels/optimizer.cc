#include "ops/training/optimizer.h"

#include <cmath>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class OptimizerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double>;

  explicit OptimizerKernel(const KernelInfo& info) : op_(info.attributes<ops::Optimizer>()) {}

  Status run(RunContext& context) const override {
    if (context.input(0).elements() != 1) {
      return error_status(ErrorCode::invalid_argument, "the learning rate has {} elements, expected 1", context.input(0).elements());
    }
    const double rate = element_as_double(context.input(0), 0);
    const int64_t updates = scalar_int(context, 1, "the update count");
    for (int k = 0; k < op_.tensors; ++k) {
      const TensorView x = context.input(2 + k);
      for (int part = 1; part < 2 + op_.states; ++part) {
        const TensorView other = context.input(2 + part * op_.tensors + k);
        if (other.shape() == x.shape() && other.dtype() == x.dtype()) continue;
        return error_status(ErrorCode::invalid_argument, "input {} is {} {}, expected {} {} as the tensor that is updated",
                            2 + part * op_.tensors + k, to_string(other.dtype()), other.shape().to_string(), to_string(x.dtype()),
                            x.shape().to_string());
      }
      RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "optimizer", [&]<typename T>() { update<T>(context, k, rate, updates); }));
    }
    return {};
  }

 private:
  /// The tensor k with its gradient and states, an element each, in double.
  template <typename T>
  void update(RunContext& context, int k, double rate, int64_t updates) const {
    const auto input = [&](int part) { return context.input(2 + part * op_.tensors + k).template data<T>(); };
    const T *x = input(0), *gradient = input(1), *first = input(2), *second = op_.states > 1 ? input(3) : nullptr;
    const Shape& shape = context.input(2 + k).shape();
    const auto output = [&](int part) { return context.output(part * op_.tensors + k, dtype_of<T>, shape).template data<T>(); };
    T *new_x = output(0), *new_first = output(1), *new_second = op_.states > 1 ? output(2) : nullptr;
    const double factor = adjusted_rate(rate, updates);
    context.parallel().for_range(shape.elements(), Cost{.bytes = 6 * sizeof(T), .operations = 30}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const double old = static_cast<double>(x[i]), g = static_cast<double>(op_.norm) * old + static_cast<double>(gradient[i]);
        double states[2] = {static_cast<double>(first[i]), second ? static_cast<double>(second[i]) : 0};
        const double step = step_of(g, updates, states);
        new_x[i] = static_cast<T>((1 - static_cast<double>(op_.norm_after)) * (old - factor * step));
        new_first[i] = static_cast<T>(states[0]);
        if (new_second) new_second[i] = static_cast<T>(states[1]);
      }
    });
  }

  double adjusted_rate(double rate, int64_t updates) const {
    using enum ops::Optimizer::Kind;
    const double count = static_cast<double>(updates);
    if (op_.kind == adagrad) return rate / (1 + count * static_cast<double>(op_.decay));
    if (op_.kind != adam || updates <= 0) return rate;
    return rate * std::sqrt(1 - std::pow(static_cast<double>(op_.beta), count)) / (1 - std::pow(static_cast<double>(op_.alpha), count));
  }

  /// What the rate multiplies, given the regularised gradient; brings the states forward.
  double step_of(double g, int64_t updates, double (&states)[2]) const {
    using enum ops::Optimizer::Kind;
    const double alpha = static_cast<double>(op_.alpha), beta = static_cast<double>(op_.beta), epsilon = static_cast<double>(op_.epsilon);
    switch (op_.kind) {
      case adagrad: states[0] += g * g; return g / (std::sqrt(states[0]) + epsilon);
      case adam:
        states[0] = alpha * states[0] + (1 - alpha) * g;
        states[1] = beta * states[1] + (1 - beta) * g * g;
        return states[0] / (std::sqrt(states[1]) + epsilon);
      case momentum:
      case nesterov: states[0] = alpha * states[0] + (updates > 0 ? beta : 1) * g; break;
    }
    return op_.kind == nesterov ? g + alpha * states[0] : states[0];
  }

  ops::Optimizer op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OptimizerKernel)
