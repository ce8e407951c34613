#include "ops/tensor/unrunnable.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// The error that was found at load.
class UnrunnableKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit UnrunnableKernel(const KernelInfo& info) : message_(info.attributes<ops::Unrunnable>().message) {}

  Status run(RunContext&) const override { return error_status(ErrorCode::invalid_argument, "{}", message_); }

 private:
  std::string message_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UnrunnableKernel)
