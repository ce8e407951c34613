#include "providers/plugin/subgraph_kernel.h"

namespace rh::plugin {

namespace {

struct SubgraphKernel : OrtKernelImpl {
  explicit SubgraphKernel(std::function<Status(OrtKernelContext&)> work) : OrtKernelImpl{}, run(std::move(work)) {
    ort_version_supported = ORT_API_VERSION;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) -> OrtStatus* {
      try {
        context->mark_given();
        return abi::make_status(static_cast<SubgraphKernel*>(self)->run(*context));
      } catch (...) {
        return abi::status_of_current_exception();
      }
    };
    Release = [](OrtKernelImpl* self) { delete static_cast<SubgraphKernel*>(self); };
  }
  std::function<Status(OrtKernelContext&)> run;
};

Device device_of_output(const OrtKernelContext& context, int i) {
  const bool on_host = i < 64 && (context.place.host_outputs >> i & 1) != 0;
  return context.place.memory && !on_host ? context.place.device : Device{};
}

}  // namespace

void check_operator(const OrtKernelInfo& info, const char* op) {
  if (info.node->op_type == op && info.node->domain.empty()) return;
  fail(ErrorCode::invalid_argument, "the node is a {}, expected {}", info.node->op_text(), op);
}

OrtKernelImpl* make_subgraph_kernel(std::function<Status(OrtKernelContext&)> work) { return new SubgraphKernel(std::move(work)); }

void Mover::copy(const Tensor& from, Tensor& to) const {
  if (from.device().is_host() && to.device().is_host()) return copy_elements(from.view(), to.mutable_view());
  if (from.bytes() == 0) return;
  if (!transfer_ || !transfer_->can_copy(from.device(), to.device())) {
    fail(ErrorCode::ep_fail, "the provider does not copy from {} to {}", from.device().to_string(), to.device().to_string());
  }
  if (const Status status = transfer_->copy(from, to, nullptr); !status.ok()) fail(status.code(), "{}", status.message());
}

Tensor Mover::make(DType dtype, const Shape& shape, Device device) const {
  if (device.is_host()) return Tensor(dtype, shape);
  void* memory = ask<void*>(nullptr, [&] { return allocator_->Alloc(allocator_, std::max<size_t>(bytes_of(dtype, shape.elements()), 1)); });
  if (!memory) fail(ErrorCode::runtime_exception, "the provider's allocator gave no memory for {}{}", to_string(dtype), shape.to_string());
  std::shared_ptr<const void> owner(
      memory, [allocator = allocator_](const void* p) { tell([&] { allocator->Free(allocator, const_cast<void*>(p)); }); });
  return Tensor(dtype, shape, memory, std::move(owner), device);
}

Tensor output_tensor(OrtKernelContext& context, int i, DType dtype, const Shape& shape) {
  return Tensor(dtype, shape, context.run.output(i, dtype, shape).raw(), nullptr, device_of_output(context, i));
}

void give(OrtKernelContext& context, const Mover& mover, int i, const Value& value) {
  if (!context.run.has_output(i)) return;
  if (!value.is_tensor() || (value.tensor().owns_memory() && value.tensor().device() == device_of_output(context, i))) {
    context.run.set_output(i, value);
    return;
  }
  Tensor to = output_tensor(context, i, value.tensor().dtype(), value.tensor().shape());
  mover.copy(value.tensor(), to);
}

void check_on_host(const RunContext& run, int i, const char* what) {
  const Device device = run.input_tensor(i).device();
  if (device.is_host()) return;
  fail(ErrorCode::ep_fail, "{} is on {}: register the kernel with input {} in the memory of the CPU", what, device.to_string(), i);
}

OrtValue as_value(const OrtKernelContext& context, const Tensor& tensor) {
  return OrtValue(Value(tensor), tensor.device().is_host() ? nullptr : context.place.memory);
}

}  // namespace rh::plugin
