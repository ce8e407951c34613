#include "abi/options.h"
#include "abi/value.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "roundhouse/roundhouse_c_api.h"
#include "session/observer.h"

namespace rh::capi {

namespace {

/// Handles for values, which share their memory; null where there is none.
class Handles {
 public:
  explicit Handles(std::span<const Value* const> values) {
    owned_.reserve(values.size());
    for (const Value* value : values) {
      const bool present = value && !value->empty();
      if (present) owned_.emplace_back(*value);
      handles_.push_back(present ? &owned_.back() : nullptr);
    }
  }
  const OrtValue* const* data() const { return handles_.data(); }

 private:
  std::vector<OrtValue> owned_;
  std::vector<const OrtValue*> handles_;
};

std::vector<const char*> names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<const char*> names;
  for (ValueId id : ids) names.push_back(id == kNoValue ? "" : graph.value(id).name.c_str());
  return names;
}

uint64_t nanoseconds(std::chrono::steady_clock::time_point at) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

class CallbackObserver final : public RunObserver {
 public:
  CallbackObserver(RhNodeCallback callback, void* state) : callback_(callback), state_(state) {}

  void after_step(const StepEvent& event) override {
    const Node& node = event.node;
    const std::string name = node.display_name(), provider(event.provider);
    std::vector<std::string> originals;
    std::vector<const char*> original_names, original_ops;
    for (const auto& original : node.provenance) {
      originals.push_back(original->name.empty() ? "#" + std::to_string(original->index) : original->name);
      original_ops.push_back(original->op_type.c_str());
    }
    for (const std::string& original : originals) original_names.push_back(original.c_str());
    const Handles inputs(event.inputs), outputs(event.outputs);
    const auto input_names = names_of(event.graph, node.inputs), output_names = names_of(event.graph, node.outputs);
    const RhNodeRun run{name.c_str(),          node.domain.c_str(), node.op_type.c_str(),  provider.c_str(),
                        event.depth,           originals.size(),    original_names.data(), original_ops.data(),
                        input_names.size(),    input_names.data(),  inputs.data(),         output_names.size(),
                        output_names.data(),   outputs.data(),      flops_of(event),       nanoseconds(event.begin),
                        nanoseconds(event.end)};
    callback_(state_, &run);
  }

 private:
  RhNodeCallback callback_;
  void* state_;
};

}  // namespace

std::shared_ptr<RunObserver> node_callback_observer(RhNodeCallback callback, void* state) {
  return std::make_shared<CallbackObserver>(callback, state);
}

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhRunOptionsSetNodeCallback(OrtRunOptions* options, RhNodeCallback callback, void* state) {
  using namespace rh::capi;
  return guard([&] {
    OrtRunOptions& given = checked(options, "options");
    given.node_callback = callback;
    given.node_callback_state = state;
  });
}
