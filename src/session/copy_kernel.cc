#include "session/copy_kernel.h"

namespace rh {

namespace {

class CopyKernel final : public Kernel {
 public:
  CopyKernel(DataTransfer& transfer, Device to) : transfer_(transfer), to_(to) {}

  Status run(RunContext& context) const override {
    if (!context.input_value(0).is_tensor()) return Status(ErrorCode::not_implemented, "only tensors are copied between memories");
    const Tensor& from = context.input_tensor(0);
    const MutableView view = context.output(0, from.dtype(), from.shape());
    Tensor to(from.dtype(), from.shape(), view.raw(), nullptr, to_);
    return transfer_.copy(from, to, context.stream());
  }

 private:
  DataTransfer& transfer_;
  Device to_;
};

}  // namespace

std::unique_ptr<Kernel> make_copy_kernel(std::span<const std::shared_ptr<Provider>> providers, Device from, Device to) {
  DataTransfer* transfer = find_transfer(providers, from, to);
  if (!transfer) fail(ErrorCode::ep_fail, "no provider copies from {} to {}", from.to_string(), to.to_string());
  return std::make_unique<CopyKernel>(*transfer, to);
}

}  // namespace rh
