#include <gtest/gtest.h>

#include "ops/registry.h"
#include "ops/schema.h"
#include "providers/cpu/kernel.h"

namespace rh {
namespace {

// Every kernel takes every element type that any version of the standard allows for the input that decides the type.
TEST(StandardTypes, KernelsTakeThemAll) {
  for (const ops::OpSchema& schema : ops::all_schemas()) {
    const OpEntry* op = find_op(schema.domain, schema.op_type);
    const cpu::KernelEntry* kernel = op ? cpu::find_kernel(op->attributes) : nullptr;
    const bool is_standard = schema.domain.empty() || schema.domain.starts_with("ai.onnx");
    if (!is_standard || schema.deprecated || !kernel || schema.inputs.empty()) continue;
    // Unique sorts, and complex numbers have no order.
    const DTypeSet unordered = schema.op_type == "Unique" ? DTypeSet{DType::complex64, DType::complex128} : DTypeSet{};
    std::string missing;
    for (int i = 1; i < kDTypeCount; ++i) {
      const DType dtype = static_cast<DType>(i);
      if (unordered.contains(dtype)) continue;
      if (schema.input(0)->allowed->allows_tensor(dtype) && !kernel->types.contains(dtype)) missing += " " + std::string(to_string(dtype));
    }
    EXPECT_EQ(missing, "") << schema.op_type << '(' << schema.since_version << ')';
  }
}

// Every operator of the standard has a kernel, but for the one that rewrites graphs.
TEST(StandardTypes, EveryOperatorHasAKernel) {
  for (const ops::OpSchema& schema : ops::all_schemas()) {
    if (!schema.domain.empty() && !schema.domain.starts_with("ai.onnx")) continue;
    if (schema.op_type == "Gradient") continue;
    const OpEntry* op = find_op(schema.domain, schema.op_type);
    EXPECT_TRUE(op && cpu::find_kernel(op->attributes)) << schema.domain << "::" << schema.op_type;
  }
}

}  // namespace
}  // namespace rh
