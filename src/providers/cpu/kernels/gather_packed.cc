#include "ops/quant/gather_packed.h"

#include "compute/quant/packed_format.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Widens only the rows that are gathered.
class GatherPackedKernel final : public Kernel {
 public:
  struct Types {
    static constexpr DTypeSet set{DType::uint8};
  };

  explicit GatherPackedKernel(const KernelInfo& info) : op_(info.attributes<ops::GatherPacked>()) {}

  Status run(RunContext& context) const override {
    const TensorView data = context.input(0), indices = context.input(1);
    if (data.rank() != 2 || data.shape()[1] != op_.row_bytes()) {
      return error_status(ErrorCode::invalid_argument, "GatherPacked: data has shape {}, expected [rows, {}]: {} elements of format {}",
                          data.shape().to_string(), op_.row_bytes(), op_.columns, op_.layout->name);
    }
    Shape shape = indices.shape();
    shape.push_back(op_.columns);
    check_elements(shape, "GatherPacked: output");
    const int64_t rows = data.shape()[0], count = indices.elements();
    if (rows == 0 && count > 0) return error_status(ErrorCode::invalid_argument, "GatherPacked: data has no rows, expected at least one");
    const ConvertedOutput y(context, 0, shape, DType::float32);
    if (count == 0) return {};
    const int64_t* given = indices_of(context, 1);
    const auto size = static_cast<double>(op_.columns);
    context.parallel().for_range(count, {5.0 * size, 4.0 * size}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t row = given[i] >= 0 && given[i] < rows ? given[i] : 0;
        compute::unpack_blocks(op_.layout->format, data.data<uint8_t>() + row * op_.row_bytes(), op_.blocks(),
                               y.data<float>() + i * op_.columns);
      }
    });
    y.store(context.parallel());
    return {};
  }

 private:
  ops::GatherPacked op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatherPackedKernel)
