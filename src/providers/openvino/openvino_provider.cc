// OpenVINO, by its C interface. docs/providers/openvino.md is the page for its users.
#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/ep.h"
#include "providers/openvino/compiled.h"
#include "providers/openvino/operators.h"
#include "providers/openvino/settings.h"

namespace rh::openvino {

namespace {

using kit::Region, kit::Support;

class OpenVinoProvider final : public kit::RegionProvider, public kit::ArtifactMaker {
 public:
  explicit OpenVinoProvider(const kit::Setup& setup) : shared_(std::make_shared<Shared>(setup.options.text("library_path"))) {
    shared_->settings = settings_of(setup.options, setup.threads, shared_->runtime);
    cache_ = cache_of(setup.options, shared_->settings);
  }

  Support supports(const NodeView& node) const override {
    if (Support refusal = supports_alone(node)) return refusal;
    return supports_bodies(node);
  }

  bool keeps_constants() const override { return true; }
  bool tries_regions() const override { return true; }
  bool reads_any_address() const override { return true; }

  std::unique_ptr<kit::Executable> compile(const Region& region) override { return make_executable(shared_, region); }

  kit::ArtifactMaker* artifacts() override { return shared_->settings.is_one_device ? this : nullptr; }
  kit::CacheSettings cache() const override { return cache_; }
  std::string settings() const override { return key_of(shared_->settings); }
  std::string save(const kit::Executable& executable) const override { return save_executable(executable); }
  std::unique_ptr<kit::Executable> load(const kit::OwnedBytes& bytes, const Region& region) override {
    return load_executable(shared_, region, bytes);
  }

  std::string made_by() const override {
    if (made_by_.empty()) made_by_ = made_by(shared_->settings.device);
    return made_by_;
  }

  // Of the device that it was made for: hosts ask this of a provider without a session's options.
  kit::Fit fits(std::string_view maker) const override {
    constexpr std::string_view kBefore = " for ";
    const size_t at = maker.find(kBefore);
    if (at == maker.npos) return kit::Fit::no;
    const std::string_view rest = maker.substr(at + kBefore.size());
    return made_by(std::string(rest.substr(0, rest.find(',')))) == maker ? kit::Fit::best : kit::Fit::no;
  }

  void set_dynamic_option(std::string_view name, std::string_view value) override {
    if (name != "ep.dynamic.workload_type")
      fail(ErrorCode::invalid_argument, "there is no dynamic option '{}'; expected ep.dynamic.workload_type", name);
    if (value != "Default" && value != "Efficient") {
      fail(ErrorCode::invalid_argument, "dynamic option '{}' is '{}', expected Default or Efficient", name, value);
    }
    shared_->live.set_property(shared_->runtime, "WORKLOAD_TYPE", value == "Default" ? "DEFAULT" : "EFFICIENT");
  }

 private:
  std::string made_by(const std::string& device) const {
    const Runtime& runtime = shared_->runtime;
    std::string maker = fmt::format("OpenVINO {} for {}", runtime.version(), device);
    for (const char* name : {"FULL_DEVICE_NAME", "OPTIMIZATION_CAPABILITIES"}) {
      maker += fmt::format(", {}", runtime.property(device, name).value_or("unknown"));
    }
    return maker;
  }

  std::shared_ptr<Shared> shared_;
  kit::CacheSettings cache_;
  mutable std::string made_by_;
};

constexpr kit::ProviderKind kOpenVino = {"OpenVINOExecutionProvider", "Intel", 0x8086, "1.0.0", kOptions, kit::make<OpenVinoProvider>};

}  // namespace

}  // namespace rh::openvino

RH_EXPORT_KIT_PROVIDER(rh::openvino::kOpenVino)
