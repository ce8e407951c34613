#include "ops/quant/gather_packed.h"

#include "ops/dim_rules.h"
#include "ops/dtype_attribute.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

std::string known_formats() {
  std::string all;
  for (const PackedLayout& layout : kPackedLayouts) {
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", static_cast<int64_t>(layout.format), layout.name);
  }
  return all;
}

}  // namespace

GatherPacked GatherPacked::read(const NodeView& node) {
  const int64_t number = node.required_int("packed_type");
  const GatherPacked op{
      .layout = find_packed_layout(number), .columns = node.required_int("K"), .dtype = read_dtype(node, "output_dtype", DType::bfloat16)};
  if (!op.layout) node.fail("packed_type is {}, expected one of {}", number, known_formats());
  if (op.columns < 1 || op.columns % op.layout->block != 0) {
    node.fail("K is {}, expected a positive multiple of {}, the block of format {}", op.columns, op.layout->block, op.layout->name);
  }
  if (op.columns > (int64_t{1} << 40)) node.fail("K is {}, expected at most 2^40", op.columns);
  if (op.dtype != DType::bfloat16 && op.dtype != DType::float16 && op.dtype != DType::float32) {
    node.fail("output_dtype is {}, expected float32, float16 or bfloat16", to_string(op.dtype));
  }
  return op;
}

void infer(const GatherPacked& op, InferenceContext& context) {
  const TensorType &data = context.input_tensor(0), &indices = context.input_tensor(1);
  if (data.has_rank()) {
    if (data.rank() != 2) context.node().fail("data has shape {}, expected 2 dimensions: rows and their bytes", to_string(*data.dims));
    agree(context, (*data.dims)[1], Dim(op.row_bytes()), "bytes of a row");
  }
  if (!indices.has_rank()) return context.set_output(0, op.dtype);
  SymbolicShape y(indices.dims->begin(), indices.dims->end());
  y.push_back(Dim(op.columns));
  context.set_output(0, op.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(GatherPacked)
