// Custom operators from functions and structs.
#include "plugins/lite_custom_ops.h"

namespace rh::test {
namespace {

using Ort::Custom::Span;
using Ort::Custom::Tensor;
using Ort::Custom::Variadic;

void multiply_add(const Tensor<float>& a, const Span<float>& b, float c, std::optional<float> d, Tensor<float>& out) {
  float* to = out.Allocate(a.Shape());
  for (size_t i = 0; i < static_cast<size_t>(a.NumberOfElement()); ++i) to[i] = a.Data()[i] * b[i] + c + d.value_or(0.f);
}

Ort::Status same_shape(Ort::ShapeInferContext& context) { return context.SetOutputShape(0, context.GetInputShape(0)); }

Ort::Status join(const Tensor<std::string>& parts, const std::string& separator, Tensor<std::string>* out) {
  std::string text;
  for (const std::string& part : parts.Data()) text += (text.empty() ? "" : separator) + part;
  if (text.empty()) return Ort::Status("there is nothing to join", ORT_INVALID_ARGUMENT);
  out->SetStringOutput(std::vector<std::string>{text}, {1});
  return Ort::Status();
}

/// The element counts of its inputs, each an output.
void counts(const Variadic& inputs, Variadic& outputs) {
  for (size_t i = 0; i < outputs.Size(); ++i) *outputs.AllocateOutput<int64_t>(i, {1}) = inputs[i]->NumberOfElement();
}

struct Offset {
  Offset(const OrtApi*, const OrtKernelInfo* info) : by(Ort::ConstKernelInfo(info).GetAttribute<int64_t>("by")) {}
  Ort::Status Compute(const Tensor<int64_t>& x, std::optional<const Tensor<int64_t>*> more, Tensor<int64_t>& out) {
    int64_t* to = out.Allocate(x.Shape());
    for (int64_t i = 0; i < x.NumberOfElement(); ++i) to[i] = x.Data()[i] + by + (more ? (*more)->Data()[i] : 0);
    return Ort::Status();
  }
  static Ort::Status InferOutputShape(Ort::ShapeInferContext& context) {
    if (context.GetAttrInt("by") == 99) return Ort::Status("99 is too much", ORT_INVALID_ARGUMENT);
    return context.SetOutputShape(0, context.GetInputShape(0), ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  }

  int64_t by;
};

}  // namespace

void add_lite_ops(Ort::CustomOpDomain& domain) {
  using Ort::Custom::CreateLiteCustomOp;
  static const std::unique_ptr<Ort::Custom::OrtLiteCustomOp> ops[] = {
      std::unique_ptr<Ort::Custom::OrtLiteCustomOp>(
          CreateLiteCustomOp("LiteMultiplyAdd", "CPUExecutionProvider", multiply_add, same_shape)),
      std::unique_ptr<Ort::Custom::OrtLiteCustomOp>(CreateLiteCustomOp("LiteJoin", "CPUExecutionProvider", join)),
      std::unique_ptr<Ort::Custom::OrtLiteCustomOp>(CreateLiteCustomOp("LiteCounts", "CPUExecutionProvider", counts)),
      std::unique_ptr<Ort::Custom::OrtLiteCustomOp>(CreateLiteCustomOp<Offset>("LiteOffset", "CPUExecutionProvider"))};
  for (const auto& op : ops) domain.Add(op.get());
}

}  // namespace rh::test
