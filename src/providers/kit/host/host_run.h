#pragma once

#include <span>
#include <vector>

#include "providers/kit/host/host.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

class ListedDevice;

/// A call of a compiled region, or of a kernel, by a host: its inputs, and its outputs, made when their shapes are known.
class HostRun final : public RunOutputs {
 public:
  /// `device` is where inputs have to be but those of `host_inputs`; null: on the host. Throws Error where one is elsewhere, but for a host
  /// input that is on the device (it is copied, all such behind one wait), and one in the device's pinned memory, which ONNX Runtime hands
  /// on as it is: it is copied on the run's stream.
  HostRun(const Host& host, OrtKernelContext& context, ListedDevice* device, const std::vector<bool>& host_inputs);

  /// One that is left out has no type.
  std::span<const TensorView> inputs() const { return views_; }
  MutableView make(size_t index, const Shape& shape) override;
  StreamHandle stream() const override;
  bool is_made(size_t index) const { return index < outputs_.size() && outputs_[index].dtype != DType::undefined; }

 private:
  void fetch(ListedDevice& device, const std::vector<size_t>& inputs);
  void send(ListedDevice& device, size_t input);

  struct Output {
    DType dtype = DType::undefined;
    Shape shape;
  };
  const Host& host_;
  OrtKernelContext& context_;
  std::vector<Tensor> tensors_;
  std::vector<TensorView> views_;
  std::vector<Output> outputs_;
};

}  // namespace rh::kit
