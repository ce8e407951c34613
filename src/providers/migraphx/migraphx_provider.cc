// MIGraphX, by its C interface. docs/providers/migraphx.md is the page for its users.
#include <algorithm>

#include "providers/kit/ep.h"
#include "providers/kit/shapes/fixed_symbols.h"
#include "providers/migraphx/executable.h"
#include "providers/migraphx/operators.h"

namespace rh::migraphx {

namespace {

using kit::Region, kit::Support;

class MiGraphXProvider final : public kit::RegionProvider, public kit::ArtifactMaker {
 public:
  explicit MiGraphXProvider(const kit::Setup& setup)
      : shared_(std::make_shared<Shared>(setup.host, setup.options, settings_of(setup.options))) {}

  // Each step of a decoder brings another size, for which MIGraphX would compile anew unless it may be padded.
  void prepare(const Graph& graph) override {
    shared_->runtime.target();
    growing_ = kit::growing_symbols(graph);
    const kit::Symbols fixed = kit::fixed_symbols(graph);
    std::erase_if(growing_, [&](const std::string& name) { return !fixed.contains(name); });
  }

  Support supports(const NodeView& node) const override {
    if (Support refusal = supports_alone(node)) return refusal;
    if (Support refusal = check_growth(node)) return refusal;
    return supports_bodies(node);
  }
  void try_part(const Region& part) override { try_region(*shared_, part); }
  bool keeps_constants() const override { return true; }
  bool tries_regions() const override { return true; }
  std::unique_ptr<kit::Executable> compile(const Region& region) override { return make_executable(shared_, region); }

  kit::ArtifactMaker* artifacts() override { return this; }
  kit::CacheSettings cache() const override { return shared_->settings.cache; }
  std::string settings() const override { return shared_->settings.key; }
  std::string save(const kit::Executable& executable) const override { return save_executable(executable); }
  bool is_open(const kit::Executable& executable) const override { return has_open_sizes(executable); }
  std::unique_ptr<kit::Executable> load(const kit::OwnedBytes& bytes, const Region& region) override {
    return load_executable(shared_, region, bytes);
  }
  std::string made_by() const override { return made_by(shared_->runtime.target_name()); }
  // Of any target: hosts ask this of a provider without a session's options.
  kit::Fit fits(std::string_view maker) const override {
    return std::ranges::any_of(kTargets, [&](std::string_view target) { return maker == made_by(target); }) ? kit::Fit::best : kit::Fit::no;
  }

 private:
  std::string made_by(std::string_view target) const {
    return fmt::format("MIGraphX {} for {}{}", shared_->runtime.version(), target, target == "gpu" ? ", of kinds " + Runtime::gpus() : "");
  }

  Support check_growth(const NodeView& node) const {
    for (const auto* values : {&node.node().inputs, &node.node().outputs, &node.node().implicit_inputs}) {
      for (ValueId id : *values) {
        if (id == kNoValue || !node.graph().value(id).type.is_tensor() || !node.graph().value(id).type.tensor().has_rank()) continue;
        std::string_view grows;
        for (const Dim& dim : *node.graph().value(id).type.tensor().dims) {
          dim.for_each_symbol([&](std::string_view name) { grows = growing_.contains(name) ? *growing_.find(name) : grows; });
        }
        if (!grows.empty()) {
          return kit::refuse(RhRefusalCode_SHAPE, "'{}' grows from run to run and may not be padded: MIGraphX would compile at each",
                             grows);
        }
      }
    }
    return {};
  }

  std::shared_ptr<const Shared> shared_;
  kit::Symbols growing_;
};

constexpr kit::ProviderKind kMiGraphX = {"MIGraphXExecutionProvider", "AMD", 0x1002, "1.0.0", kOptions, kit::make<MiGraphXProvider>};

}  // namespace

}  // namespace rh::migraphx

RH_EXPORT_KIT_PROVIDER(rh::migraphx::kMiGraphX)
