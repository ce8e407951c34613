#include "ops/sequence/sequence_map.h"

#include "base/cancellation.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/loop_values.h"

namespace rh::cpu {

class SequenceMapKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceMapKernel(const KernelInfo& info) {
    const Graph* body = info.node().subgraph("body");
    for (int i = 0; body && i < info.node().output_count(); ++i) {
      const ValueType& type = body->value(body->outputs()[i]).type;
      element_dtypes_.push_back(type.is_tensor() ? type.tensor().dtype : DType::undefined);
    }
  }

  Status run(RunContext& context) const override {
    SubgraphRunner& body = context.subgraph(0);
    const size_t length = context.input_value(0).sequence().elements.size();
    std::vector<Value> inputs(static_cast<size_t>(context.input_count())), outputs(static_cast<size_t>(body.output_count()));
    std::vector<Sequence> results(static_cast<size_t>(context.output_count()));
    for (size_t k = 0; k < results.size(); ++k) results[k].element_dtype = element_dtypes_[k];
    for (size_t i = 0; i < length; ++i) {
      throw_if_cancelled();
      for (int k = 0; k < context.input_count(); ++k) {
        const Value& x = context.input_value(k);
        if (x.is_sequence() && x.sequence().elements.size() != length) {
          return error_status(ErrorCode::invalid_argument, "SequenceMap: input {} has {} elements, expected {} as input 0", k,
                              x.sequence().elements.size(), length);
        }
        inputs[k] = x.is_sequence() ? x.sequence().elements[i] : x;
      }
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      for (size_t k = 0; k < results.size(); ++k) results[k].elements.push_back(independent(context, outputs[k]));
    }
    for (size_t k = 0; k < results.size(); ++k) {
      if (context.has_output(static_cast<int>(k))) context.set_output(static_cast<int>(k), std::move(results[k]));
    }
    return {};
  }

 private:
  std::vector<DType> element_dtypes_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceMapKernel)
