#include "providers/kit/host/host_run.h"

#include "base/out_of_memory.h"
#include "providers/kit/device/device_tables.h"
#include "providers/kit/graph/value_import.h"
#include "providers/kit/host/profiling.h"
#include "tensor/interface_types.h"

namespace rh::kit {

HostRun::HostRun(const Host& host, OrtKernelContext& context, ListedDevice* device, const std::vector<bool>& host_inputs)
    : host_(host), context_(context) {
  size_t inputs = 0, outputs = 0;
  check(host, host.api->KernelContext_GetInputCount(&context, &inputs));
  check(host, host.api->KernelContext_GetOutputCount(&context, &outputs));
  outputs_.resize(outputs);
  std::vector<size_t> fetched;
  for (size_t i = 0; i < inputs; ++i) {
    const OrtValue* value = nullptr;
    check(host, host.api->KernelContext_GetInput(&context, i, &value));
    tensors_.push_back(value ? import_tensor(host, *value) : Tensor());
    if (!value || !device || tensors_.back().bytes() == 0) continue;
    const OrtMemoryDevice& place = *host.ep->Value_GetMemoryDevice(value);
    const bool is_there = device->owns(place);
    if (i < host_inputs.size() && host_inputs[i]) {
      if (is_there) fetched.push_back(i);
    } else if (device->owns_pinned(place)) {
      send(*device, i);
    } else if (!is_there) {
      fail(ErrorCode::ep_fail, "the runtime gave input {} in other memory than that of '{}'", i, device->spec().memory_name);
    }
  }
  if (!fetched.empty()) fetch(*device, fetched);
  for (const Tensor& tensor : tensors_) views_.push_back(tensor.defined() ? tensor.view() : TensorView());
}

// Hosts other than Roundhouse have no call by which a unit says what it takes in host memory.
void HostRun::fetch(ListedDevice& device, const std::vector<size_t>& inputs) {
  const auto begin = ProfileEvent::Clock::now();
  const std::shared_ptr<DeviceDriver> driver = device.driver();
  const StreamHandle on = stream();
  if (!on) driver->wait_for_all();
  for (const size_t i : inputs) {
    const Tensor there = tensors_[i];
    tensors_[i] = Tensor(there.dtype(), there.shape(), device.pinned_pool());
    driver->copy(tensors_[i].raw(), there.raw(), there.bytes(), CopyKind::to_host, on);
  }
  if (on) driver->wait(on);
  record_kernel("host values", "", begin, ProfileEvent::Clock::now());
}

// The block is given back when the call ends: the driver waits then for the work that may still use it.
void HostRun::send(ListedDevice& device, size_t input) {
  const Tensor here = tensors_[input];
  tensors_[input] = Tensor(here.dtype(), here.shape(), device.blocks());
  device.driver()->copy(tensors_[input].raw(), here.raw(), here.bytes(), CopyKind::to_device, stream());
}

MutableView HostRun::make(size_t index, const Shape& shape) {
  if (index >= outputs_.size()) fail(ErrorCode::ep_fail, "the region has {} outputs, {} was given", outputs_.size(), index);
  Output& output = outputs_[index];
  OrtValue* value = nullptr;
  check(host_, host_.api->KernelContext_GetOutput(&context_, index, shape.begin(), shape.size(), &value));
  if (!value) fail(ErrorCode::ep_fail, "output {} is left out, it was given", index);
  const Tensor tensor = import_tensor(host_, *value);
  output.shape = shape;
  output.dtype = tensor.dtype();
  if (!tensor.raw() && tensor.bytes() > 0) throw OutOfMemory(tensor.bytes());
  // ONNX Runtime gives no address for nothing, which providers would take for a want of memory.
  static double nothing = 0;
  return MutableView(output.dtype, output.shape, tensor.raw() ? const_cast<void*>(tensor.raw()) : &nothing);
}

StreamHandle HostRun::stream() const {
  StreamHandle stream = nullptr;
  check(host_, host_.api->KernelContext_GetGPUComputeStream(&context_, &stream));
  return stream;
}

}  // namespace rh::kit
