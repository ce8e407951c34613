// MIGraphX, by its C interface. docs/providers/migraphx.md is the page for its users.
#include "providers/kit/ep.h"
#include "providers/migraphx/executable.h"
#include "providers/migraphx/operators.h"

namespace rh::migraphx {

namespace {

using kit::Region, kit::Support;

class MiGraphXProvider final : public kit::RegionProvider, public kit::ArtifactMaker {
 public:
  explicit MiGraphXProvider(const kit::Options& options) : shared_(std::make_shared<Shared>(options, settings_of(options))) {}

  Support supports(const NodeView& node) const override {
    if (Support refusal = supports_alone(node)) return refusal;
    return supports_bodies(node);
  }
  bool keeps_constants() const override { return true; }
  bool tries_regions() const override { return true; }
  std::unique_ptr<kit::Executable> compile(const Region& region) override { return make_executable(shared_, region); }

  kit::ArtifactMaker* artifacts() override { return this; }
  kit::CacheSettings cache() const override { return shared_->settings.cache; }
  std::string settings() const override { return shared_->settings.key; }
  std::string save(const kit::Executable& executable) const override { return save_executable(executable); }
  std::unique_ptr<kit::Executable> load(const kit::OwnedBytes& bytes, const Region& region) override {
    return load_executable(shared_, region, bytes);
  }
  std::string made_by() const override {
    return fmt::format("MIGraphX {} for {}", shared_->runtime.version(), shared_->runtime.target_name());
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

constexpr kit::ProviderKind kMiGraphX = {"MIGraphXExecutionProvider", "AMD", 0x1002, "1.0.0", kOptions, kit::make<MiGraphXProvider>};

}  // namespace

}  // namespace rh::migraphx

RH_EXPORT_KIT_PROVIDER(rh::migraphx::kMiGraphX)
