// Core ML, by ML Programs. docs/providers/coreml.md is the page for its users.
#include "providers/coreml/executable.h"
#include "providers/coreml/operators.h"
#include "providers/kit/ep.h"
#include "providers/kit/shapes/fixed_symbols.h"

namespace rh::coreml {

namespace {

using kit::Region, kit::Support;

class CoreMlProvider final : public kit::RegionProvider {
 public:
  explicit CoreMlProvider(const kit::Setup& setup)
      : shared_(std::make_shared<const Shared>(setup.host, setup.options.text("library_path"), settings_of(setup.options))) {}

  // Each step of a decoder brings another size, for which Core ML would compile anew unless it may be padded.
  void prepare(const Graph& graph) override {
    growing_ = kit::growing_symbols(graph);
    const kit::Symbols fixed = kit::fixed_symbols(graph);
    std::erase_if(growing_, [&](const std::string& name) { return !fixed.contains(name); });
  }

  Support supports(const NodeView& node) const override {
    if (Support refusal = supports_alone(node)) return refusal;
    return check_symbols(node);
  }
  void try_part(const Region& part) override { try_region(*shared_, part); }
  bool keeps_constants() const override { return true; }
  bool tries_regions() const override { return true; }
  std::unique_ptr<kit::Executable> compile(const Region& region) override { return make_executable(shared_, region); }

 private:
  Support check_symbols(const NodeView& node) const {
    for (const auto* values : {&node.node().inputs, &node.node().outputs}) {
      for (ValueId id : *values) {
        if (id == kNoValue || !node.graph().value(id).type.tensor().has_rank()) continue;
        for (const Dim& dim : *node.graph().value(id).type.tensor().dims) {
          if (Support refusal = check_symbols(dim)) return refusal;
        }
      }
    }
    return {};
  }
  Support check_symbols(const Dim& dim) const {
    std::string_view grows;
    dim.for_each_symbol([&](std::string_view name) { grows = growing_.contains(name) ? name : grows; });
    if (!grows.empty()) {
      return kit::refuse(RhRefusalCode_SHAPE, "'{}' grows from run to run and may not be padded: Core ML would compile at each", grows);
    }
    if (!shared_->settings.static_shapes || dim.is_constant()) return {};
    return kit::refuse(RhRefusalCode_SHAPE, "a size is {}, and RequireStaticInputShapes is set", dim.to_string());
  }

  std::shared_ptr<const Shared> shared_;
  kit::Symbols growing_;
};

constexpr kit::ProviderKind kCoreMl = {"CoreMLExecutionProvider", "Apple", 0x106B, "1.0.0", kOptions, kit::make<CoreMlProvider>};

}  // namespace

}  // namespace rh::coreml

RH_EXPORT_KIT_PROVIDER(rh::coreml::kCoreMl)
