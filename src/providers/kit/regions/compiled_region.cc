#include "providers/kit/regions/compiled_region.h"

#include <algorithm>
#include <iterator>

#include "providers/kit/device/device_tables.h"
#include "providers/kit/graph/graph_import.h"
#include "providers/kit/graph/value_import.h"
#include "providers/kit/host/float_environment.h"
#include "providers/kit/host/host_run.h"

namespace rh::kit {

namespace {

// Hosts differ in what they check themselves.
void check_shape(const std::string& name, const TensorType& type, const Shape& shape) {
  if (!type.has_rank()) return;
  bool fits = type.dims->size() == static_cast<size_t>(shape.rank());
  for (size_t i = 0; fits && i < type.dims->size(); ++i) {
    const int64_t size = shape[static_cast<int>(i)];
    fits = size >= 0 && (!(*type.dims)[i].is_constant() || (*type.dims)[i].value() == size);
  }
  if (!fits) {
    fail(ErrorCode::ep_fail, "the compiled region gives '{}' the shape {}, expected {}", name, shape.to_string(), type.to_string());
  }
}

/// A run's results, whose shapes are held against the model's.
class CheckedOutputs final : public RunOutputs {
 public:
  CheckedOutputs(const CompiledRegion& region, HostRun& call) : region_(region), call_(call) {}
  MutableView make(size_t index, const Shape& shape) override {
    if (index < region_.outputs.size()) check_shape(region_.outputs[index], region_.output_types[index], shape);
    return call_.make(index, shape);
  }
  StreamHandle stream() const override { return call_.stream(); }
  RhRunState state() const override {
    const RhAskRunStateFn ask = region_.watch ? region_.watch->load() : nullptr;
    return ask ? ask() : RhRunState_ENDLESS;
  }

 private:
  const CompiledRegion& region_;
  HostRun& call_;
};

void run(const CompiledRegion& region, OrtKernelContext& context) {
  if (!region.executable) return;
  const RegionTime time(region.profiled);
  HostRun call(region.host, context, region.device.get(), region.host_inputs);
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    if (call.inputs()[i].dtype() == DType::undefined) {
      fail(ErrorCode::invalid_argument, "input '{}' of a compiled region has no value", region.inputs[i]);
    }
  }
  CheckedOutputs outputs(region, call);
  const DefaultFloatEnvironment environment;
  region.executable->run(call.inputs(), outputs);
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    if (!call.is_made(i)) fail(ErrorCode::ep_fail, "the compiled region did not give '{}'", region.outputs[i]);
  }
}

}  // namespace

CompiledRegion::CompiledRegion(const Host& given, const Region& region, std::unique_ptr<Executable> made, std::shared_ptr<ListedDevice> on)
    : OrtNodeComputeInfo{}, host(given), device(std::move(on)), host_inputs(region.host_inputs), executable(std::move(made)) {
  const auto name = [&](ValueId id) { return region.graph->value(id).name; };
  std::ranges::transform(region.inputs, std::back_inserter(inputs), name);
  std::ranges::transform(region.outputs, std::back_inserter(outputs), name);
  for (ValueId id : region.outputs) output_types.push_back(region.graph->value(id).type.tensor());
  ort_version_supported = host.version;
  CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) -> OrtStatus* {
    *state = self;
    return nullptr;
  };
  Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    const auto& compiled = *static_cast<CompiledRegion*>(self);
    return guard(*compiled.host.api, [&] { run(compiled, *context); });
  };
  ReleaseState = [](OrtNodeComputeInfo*, void*) {};
}

Region import_region(const Host& host, const OrtGraph& graph, const OrtNode& fused, const RootTypes& types) {
  const OrtApi& api = *host.api;
  const ImportedGraph imported = import_graph(host, graph);
  types.restore(*imported.graph);
  for (ValueId id = 0; id < imported.graph->value_count(); ++id) {  // a unit's node takes what a model's run may leave out
    if (imported.graph->value(id).is_input) imported.graph->set_initializer(id, {});
  }
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
