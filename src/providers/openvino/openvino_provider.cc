// OpenVINO, by its C interface. docs/providers/openvino.md is the page for its users.
#include "providers/kit/ep.h"
#include "providers/openvino/compiled.h"
#include "providers/openvino/operators.h"
#include "providers/openvino/settings.h"

namespace rh::openvino {

namespace {

using kit::Region, kit::Support;

class OpenVinoProvider final : public kit::RegionProvider {
 public:
  explicit OpenVinoProvider(const kit::Setup& setup) : shared_(std::make_shared<Shared>(setup.options.text("library_path"))) {
    shared_->settings = settings_of(setup.options, setup.threads, shared_->runtime);
  }

  Support supports(const NodeView& node) const override {
    if (Support refusal = supports_alone(node)) return refusal;
    return supports_bodies(node);
  }

  bool keeps_constants() const override { return true; }
  bool tries_regions() const override { return true; }

  std::unique_ptr<kit::Executable> compile(const Region& region) override { return make_executable(shared_, region); }

  void set_dynamic_option(std::string_view name, std::string_view value) override {
    if (name != "ep.dynamic.workload_type")
      fail(ErrorCode::invalid_argument, "there is no dynamic option '{}'; expected ep.dynamic.workload_type", name);
    if (value != "Default" && value != "Efficient") {
      fail(ErrorCode::invalid_argument, "dynamic option '{}' is '{}', expected Default or Efficient", name, value);
    }
    shared_->live.set_property(shared_->runtime, "WORKLOAD_TYPE", value == "Default" ? "DEFAULT" : "EFFICIENT");
  }

 private:
  std::shared_ptr<Shared> shared_;
};

constexpr kit::ProviderKind kOpenVino = {"OpenVINOExecutionProvider", "Intel", 0x8086, "1.0.0", kOptions, kit::make<OpenVinoProvider>};

}  // namespace

}  // namespace rh::openvino

RH_EXPORT_KIT_PROVIDER(rh::openvino::kOpenVino)
