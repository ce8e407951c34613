#include "providers/kit/compiled_region.h"

#include <algorithm>
#include <iterator>

#include "providers/kit/graph_import.h"
#include "providers/kit/value_import.h"
#include "tensor/interface_types.h"

namespace rh::kit {

namespace {

/// A run's results, made by the host when their shapes are known.
class HostOutputs final : public RunOutputs {
 public:
  HostOutputs(const CompiledRegion& region, OrtKernelContext* context)
      : region_(region), context_(context), shapes_(region.outputs.size()), is_made_(region.outputs.size(), false) {}

  MutableView make(size_t index, const Shape& shape) override {
    if (index >= shapes_.size()) fail(ErrorCode::ep_fail, "the region has {} outputs, {} was given", shapes_.size(), index);
    OrtValue* value = nullptr;
    void* data = nullptr;
    const OrtApi& api = *region_.host.api;
    check(region_.host, api.KernelContext_GetOutput(context_, index, shape.begin(), shape.size(), &value));
    check(region_.host, api.GetTensorMutableData(value, &data));
    shapes_[index] = shape;
    is_made_[index] = true;
    return MutableView(region_.outputs[index].dtype, shapes_[index], data);
  }

  void check_all_made() const {
    for (size_t i = 0; i < is_made_.size(); ++i) {
      if (!is_made_[i]) fail(ErrorCode::ep_fail, "the compiled region did not give '{}'", region_.outputs[i].name);
    }
  }

 private:
  const CompiledRegion& region_;
  OrtKernelContext* context_;
  std::vector<Shape> shapes_;
  std::vector<bool> is_made_;
};

void run(const CompiledRegion& region, OrtKernelContext* context) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const OrtValue* value = nullptr;
    check(region.host, region.host.api->KernelContext_GetInput(context, i, &value));
    if (!value) fail(ErrorCode::invalid_argument, "input '{}' of a compiled region has no value", region.inputs[i].name);
    tensors.push_back(import_tensor(region.host, *value));
  }
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  HostOutputs outputs(region, context);
  region.executable->run(views, outputs);
  outputs.check_all_made();
}

}  // namespace

CompiledRegion::CompiledRegion(const Host& given, const Region& region, std::unique_ptr<Executable> made)
    : OrtNodeComputeInfo{}, host(given), executable(std::move(made)) {
  const auto port = [&](ValueId id) { return Port{region.graph->value(id).name, region.graph->value(id).type.tensor().dtype}; };
  std::ranges::transform(region.inputs, std::back_inserter(inputs), port);
  std::ranges::transform(region.outputs, std::back_inserter(outputs), port);
  ort_version_supported = host.version;
  CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) -> OrtStatus* {
    *state = self;
    return nullptr;
  };
  Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    const auto& compiled = *static_cast<CompiledRegion*>(self);
    return guard(*compiled.host.api, [&] { run(compiled, context); });
  };
  ReleaseState = [](OrtNodeComputeInfo*, void*) {};
}

Region import_region(const Host& host, const OrtGraph& graph, const OrtNode& fused) {
  const OrtApi& api = *host.api;
  ImportedGraph imported = import_graph(host, graph);
  own_constants_of_bodies(*imported.graph);
  Region region{imported.graph, {}, {}};
  const auto find = [&](const OrtValueInfo* value) {
    const std::string name = text_of(host, api.GetValueInfoName, value);
    const ValueId id = imported.graph->find_value(name);
    if (id == kNoValue) fail(ErrorCode::ep_fail, "the unit takes or gives '{}', which its graph does not have", name);
    return id;
  };
  for (const OrtValueInfo* input : list_of(host, api.Node_GetNumInputs, api.Node_GetInputs, fused)) region.inputs.push_back(find(input));
  for (const OrtValueInfo* output : list_of(host, api.Node_GetNumOutputs, api.Node_GetOutputs, fused))
    region.outputs.push_back(find(output));
  return region;
}

}  // namespace rh::kit
