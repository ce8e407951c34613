#include <gtest/gtest.h>

#include "ops/registry.h"
#include "ops/schema.h"
#include "providers/cpu/kernel.h"

namespace rh {
namespace {

// Every kernel takes every element type that the standard's newest version allows for the input that decides the type.
TEST(StandardTypes, KernelsTakeThemAll) {
  for (const OpEntry& op : all_ops()) {
    if (!op.domain.empty()) continue;
    const ops::OpSchema* schema = ops::find_schema("", op.op_type, ops::latest_opset(""));
    const cpu::KernelEntry* kernel = cpu::find_kernel(op.attributes);
    if (!schema || schema->deprecated || !kernel || schema->inputs.empty()) continue;
    // Unique sorts, and complex numbers have no order.
    const DTypeSet unordered = op.op_type == "Unique" ? DTypeSet{DType::complex64, DType::complex128} : DTypeSet{};
    std::string missing;
    for (int i = 1; i < kDTypeCount; ++i) {
      const DType dtype = static_cast<DType>(i);
      if (unordered.contains(dtype)) continue;
      if (schema->input(0)->allowed->allows_tensor(dtype) && !kernel->types.contains(dtype)) missing += " " + std::string(to_string(dtype));
    }
    EXPECT_EQ(missing, "") << op.op_type;
  }
}

}  // namespace
}  // namespace rh
