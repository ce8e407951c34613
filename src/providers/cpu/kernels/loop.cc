#include "ops/control_flow/loop.h"

#include <limits>

#include "base/cancellation.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/loop_values.h"

namespace rh::cpu {

class LoopKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit LoopKernel(const KernelInfo& info) : op_(info.attributes<ops::Loop>()) {}

  Status run(RunContext& context) const override {
    const int64_t limit = context.has_input(0) ? scalar_int(context, 0, "Loop: the trip count") : std::numeric_limits<int64_t>::max();
    bool goes_on = !context.has_input(1) || scalar_int(context, 1, "Loop: the condition") != 0;
    SubgraphRunner& body = context.subgraph(0);
    const size_t carried = static_cast<size_t>(op_.carried);
    std::vector<Value> inputs(2 + carried), outputs(static_cast<size_t>(body.output_count()));
    for (size_t i = 0; i < carried; ++i) inputs[2 + i] = context.input_value(static_cast<int>(2 + i));
    inputs[1] = small_tensor<bool>(op_.condition_rank, goes_on);
    std::vector<ScanOutput> scans(op_.scans.size());
    int64_t iteration = 0;
    for (; goes_on && iteration < limit; ++iteration) {
      throw_if_cancelled();
      set_iteration(inputs[0], iteration);
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      const Tensor& condition = outputs[0].tensor();
      if (condition.elements() != 1 || condition.dtype() != DType::boolean) {
        return error_status(ErrorCode::invalid_argument, "Loop: the body gives a condition with {} elements of {}, expected 1 of bool",
                            condition.elements(), to_string(condition.dtype()));
      }
      goes_on = *condition.data<bool>();
      // What an iteration took is the next one's memory for what it gives.
      if (op_.condition_rank == condition.shape().rank()) std::swap(inputs[1], outputs[0]);
      for (size_t i = 0; i < carried; ++i) std::swap(inputs[2 + i], outputs[1 + i]);
      for (size_t i = 0; i < scans.size(); ++i) RH_RETURN_IF_ERROR(scans[i].add(outputs[1 + carried + i].tensor(), "Loop: scan output"));
    }
    give_carried(context, inputs, iteration == 0);
    for (size_t i = 0; i < scans.size(); ++i) scans[i].write(context, static_cast<int>(carried + i), op_.scans[i]);
    return {};
  }

 private:
  template <typename T>
  static Tensor small_tensor(int rank, T value) {
    return Tensor::from<T>(Shape(static_cast<size_t>(rank), 1), std::span<const T>(&value, 1));
  }

  // The same tensor again unless an output of the body still shares it.
  void set_iteration(Value& value, int64_t iteration) const {
    if (!value.empty() && value.tensor().owner().use_count() == 1) {
      *value.tensor().data<int64_t>() = iteration;
    } else {
      value = small_tensor<int64_t>(op_.iteration_rank, iteration);
    }
  }

  void give_carried(RunContext& context, std::vector<Value>& values, bool untouched) const {
    for (int i = 0; i < op_.carried && i < context.output_count(); ++i) {
      if (!context.has_output(i)) continue;
      const Value& value = values[2 + i];
      if (untouched && value.is_tensor()) {
        context.output_view(i, 2 + i, value.tensor().shape());
      } else {
        context.set_output(i, independent(context, value));
      }
    }
  }

  ops::Loop op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LoopKernel)
