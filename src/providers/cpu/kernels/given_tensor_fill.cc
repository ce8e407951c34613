#include "ops/tensor/given_tensor_fill.h"

#include <algorithm>

#include "providers/cpu/elements.h"
#include "tensor/narrowed.h"

namespace rh::cpu {

class GivenTensorFillKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit GivenTensorFillKernel(const KernelInfo& info) : op_(info.attributes<ops::GivenTensorFill>()) {}

  Status run(RunContext& context) const override {
    using From = ops::GivenTensorFill::Shape;
    Shape shape;
    if (op_.shape_from == From::of_input) {
      shape = context.input_tensor(0).shape();
    } else if (op_.shape_from == From::contents) {
      const TensorView sizes = context.input(0);  // of floats, by its schema
      for (int64_t i = 0; i < sizes.elements(); ++i) shape.push_back(narrowed<int64_t>(element_as_double(sizes, i)));
    } else {
      shape = Shape(op_.shape.begin(), op_.shape.end());
    }
    if (op_.shape_from != From::attribute) {
      for (const int64_t size : op_.extra_shape) shape.push_back(size);
    }
    check_elements(shape, "GivenTensorFill: the shape");
    if (shape.elements() != static_cast<int64_t>(op_.values.size())) {
      return error_status(ErrorCode::invalid_argument, "GivenTensorFill: values has {} numbers, expected {} for shape {}",
                          op_.values.size(), shape.elements(), shape.to_string());
    }
    std::ranges::copy(op_.values, context.output(0, DType::float32, shape).data<float>());
    return {};
  }

 private:
  ops::GivenTensorFill op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GivenTensorFillKernel)
