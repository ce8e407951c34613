#include "ops/tensor/bit_cast.h"

#include <cstring>

#include "compute/move/copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class BitCastKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit BitCastKernel(const KernelInfo& info) : op_(info.attributes<ops::BitCast>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (is_string(x.dtype()) || bits_of(x.dtype()) != bits_of(op_.to)) {
      return error_status(ErrorCode::invalid_argument, "BitCast: {} cannot be read as {}, expected a type of {} bits", to_string(x.dtype()),
                          to_string(op_.to), bits_of(x.dtype()));
    }
    const MutableView y = context.output(0, op_.to, x.shape());
    if (x.raw() != y.raw()) compute::copy_bytes(x.raw(), y.raw(), x.bytes());
    return {};
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias kInPlace[] = {{0, 0, Alias::Kind::in_place}};
    return kInPlace;
  }

 private:
  ops::BitCast op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BitCastKernel)
