#include "ops/control_flow/loop.h"

#include <limits>

#include "base/cancellation.h"
#include "base/inline_array.h"
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
    const KeptValues kept(body, 2 + carried);
    const std::span<Value> inputs = kept.inputs, outputs = kept.outputs;
    for (size_t i = 0; i < carried; ++i) inputs[2 + i] = context.input_value(static_cast<int>(2 + i));
    set_small(inputs[1], op_.condition_rank, goes_on);
    InlineArray<ScanOutput, 4> scans(static_cast<size_t>(op_.scans));
    int64_t iteration = 0;
    for (; goes_on && iteration < limit; ++iteration) {
      throw_if_cancelled();
      set_small(inputs[0], op_.iteration_rank, iteration);
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      const Tensor& condition = outputs[0].tensor();
      if (condition.elements() != 1 || condition.dtype() != DType::boolean) {
        return error_status(ErrorCode::invalid_argument, "Loop: the body gives a condition with {} elements of {}, expected 1 of bool",
                            condition.elements(), to_string(condition.dtype()));
      }
      goes_on = *condition.data<bool>();
      // What an iteration took is the next one's memory for what it gives.
      if (op_.condition_rank == condition.shape().rank()) std::swap(inputs[1], outputs[0]);
      for (size_t i = 0; i < carried; ++i) kept.carry(2 + i, 1 + i, iteration, context, static_cast<int>(i));
      for (size_t i = 0; i < static_cast<size_t>(op_.scans); ++i) {
        RH_RETURN_IF_ERROR(scans[i].add(context, outputs[1 + carried + i].tensor(), limit, "Loop: scan output"));
      }
    }
    std::vector<ValueType> types;  // of the first iteration, where there is none
    if (iteration == 0 && op_.scans > 0) {
      set_small(inputs[0], op_.iteration_rank, iteration);
      types = body.output_types(inputs, {});
    }
    give_carried(context, inputs, iteration == 0);
    for (size_t i = 0; i < static_cast<size_t>(op_.scans); ++i) {
      scans[i].write(context, static_cast<int>(carried + i), types.empty() ? nullptr : &types[1 + carried + i]);
    }
    return {};
  }

 private:
  // One element in the same tensor again, unless an output of the body still shares it or it has become another.
  template <typename T>
  static void set_small(Value& value, int rank, T element) {
    const bool fits = value.is_tensor() && value.tensor().owner().use_count() == 1 && value.tensor().dtype() == dtype_of<T> &&
                      value.tensor().shape() == Shape(static_cast<size_t>(rank), 1);
    if (!fits) value = Tensor(dtype_of<T>, Shape(static_cast<size_t>(rank), 1));
    *value.tensor().data<T>() = element;
  }

  void give_carried(RunContext& context, std::span<Value> values, bool untouched) const {
    for (int i = 0; i < op_.carried && i < context.output_count(); ++i) {
      if (!context.has_output(i)) continue;
      Value& value = values[static_cast<size_t>(2 + i)];
      if (untouched && value.is_tensor()) {
        context.output_view(i, 2 + i, value.tensor().shape());
      } else {
        context.set_output(i, independent(context, std::move(value)));
      }
    }
  }

  ops::Loop op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LoopKernel)
