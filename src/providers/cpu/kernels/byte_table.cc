#include "ops/quant/byte_table.h"

#include <cstring>

#include "providers/cpu/quantization.h"

namespace rh::cpu {

class ByteTableKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  explicit ByteTableKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), given = context.input(1);
    ByteTable table;
    if (given.elements() != static_cast<int64_t>(sizeof(table.of)) || !Types::set.contains(given.dtype())) {
      return error_status(ErrorCode::invalid_argument, "the table has {} elements, expected 256 of int8 or uint8", given.elements());
    }
    std::memcpy(table.of, given.data<uint8_t>(), sizeof(table.of));
    const MutableView y = context.output(0, given.dtype(), x.shape());
    context.parallel().for_range(x.elements(), {.bytes = 2, .operations = 0.5}, [&](Range range) {
      table.run(x.data<uint8_t>() + range.begin, y.data<uint8_t>() + range.begin, range.size());
    });
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ByteTableKernel)
