#include "ops/tensor/unrunnable.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// The error that was found at load.
class UnrunnableKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit UnrunnableKernel(const KernelInfo& info) : op_(info.attributes<ops::Unrunnable>()) {}

  Status run(RunContext&) const override { return error_status(op_.code, "{}", op_.message); }

 private:
  ops::Unrunnable op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UnrunnableKernel)
