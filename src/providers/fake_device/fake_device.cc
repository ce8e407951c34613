// A provider for tests: a device with memory that the host cannot read, and streams that work later. It takes what is its own and nothing
// else (memory.h). Kernels for Add, Mul, Relu, Neg, Sigmoid, Tanh and Tile on float tensors; regions of any operators. The environment's
// FAKE_DEVICE_FAULT makes the device itself wrong: copy (the last byte is lost), wait (copies to the host are not waited for), memory (it
// has any size that is asked for); FAKE_DEVICE_COUNT is how many devices there are, FAKE_DEVICE_HARDWARE what they are (gpu, npu, cpu).
// Counts: counts.h.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "providers/fake_device/emulation.h"
#include "providers/kit/ep.h"
#include "providers/kit/regions/host_values.h"
#include "providers/kit/regions/precision.h"

namespace rh::fake_device {

namespace {

using kit::OptionRow, kit::Region, kit::Support, kit::refuse;

constexpr std::string_view kKinds[] = {"", "kernels", "regions", "both"};
constexpr std::string_view kFailing[] = {"",       "create", "capability", "kernel", "compile", "run",    "alloc", "copy_in", "copy_out",
                                         "stream", "record", "wait",       "work",   "end_run", "result", "crash", "hang"};
constexpr std::string_view kFailures[] = {"error", "memory"};
constexpr OptionRow kOptions[] = {
    {"delay_us", OptionRow::Type::integer, "0", "of each piece of work", 0, 10000000},
    {"kind", OptionRow::Type::choice, "",
     "what it takes goes to kernels, to compiled regions, or to kernels where it has one; empty: kernels, regions with claim", 0, 0,
     kKinds},
    {"claim", OptionRow::Type::text, "",
     "SEED:PERCENT: it takes that share of all nodes, chosen at random; =NAME,NAME: nodes by their names"},
    {"passes", OptionRow::Type::text, "", "names of passes, with commas between, that the host runs over its nodes"},
    {"bodies", OptionRow::Type::flag, "0", "whether it takes nodes with bodies as a whole"},
    {"islands", OptionRow::Type::flag, "1", "whether it takes regions that save less than their copies cost"},
    {"host_shapes", OptionRow::Type::flag, "1", "whether its regions take values that steer shapes in host memory"},
    kit::kPrecisionOption,
    kit::kCalibrationOption,
    kit::kKeepFloat32Option,
    {"arena", OptionRow::Type::flag, "0", "whether its memory is kept in an arena; else each block is one of the device's"},
    {"fail", OptionRow::Type::choice, "", "a call that then fails, or what runs do: result (off by one), crash, hang", 0, 0, kFailing},
    {"fail_after", OptionRow::Type::integer, "0", "how many such calls work before", 0, 1000000},
    {"fail_times", OptionRow::Type::integer, "-1", "how many fail; -1: all", -1, 1000000},
    {"fail_with", OptionRow::Type::choice, "error", "how they fail", 0, 0, kFailures},
};

/// Which nodes it takes.
class Claim {
 public:
  explicit Claim(std::string_view text) : text_(text) {
    if (text_.empty() || names_nodes()) return;
    const size_t colon = text_.find(':');
    const std::string_view percent = colon == text_.npos ? std::string_view() : std::string_view(text_).substr(colon + 1);
    const auto [end, error] = std::from_chars(percent.data(), percent.data() + percent.size(), percent_);
    if (!percent.empty() && error == std::errc() && end == percent.data() + percent.size() && percent_ <= 100) return;
    fail(ErrorCode::invalid_argument, "option claim is '{}', expected SEED:PERCENT, of at most 100, or =NAME,NAME", text_);
  }

  bool is_given() const { return !text_.empty(); }

  /// By its own name, or by the names of its results, which the model gives.
  bool has(const NodeView& view) const {
    const Node& node = view.node();
    if (names_nodes()) return ("," + text_.substr(1) + ",").find("," + node.name + ",") != std::string::npos;
    uint32_t hash = 2166136261u;  // FNV-1a
    const auto add = [&](std::string_view text) {
      for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    };
    add(text_.substr(0, text_.find(':')) + "/");
    for (ValueId output : node.outputs) {
      if (output != kNoValue) add(view.graph().value(output).name);
    }
    hash = (hash ^ (hash >> 15)) * 2246822519u;
    return (hash >> 8) % 100 < percent_;
  }

 private:
  bool names_nodes() const { return text_.starts_with('='); }

  std::string text_;
  uint32_t percent_ = 0;
};

class FakeDevice final : public kit::RegionProvider {
 public:
  explicit FakeDevice(const kit::Setup& setup)
      : host_(setup.host),
        delay_us_(setup.options.integer("delay_us")),
        kind_(setup.options.text("kind")),
        takes_bodies_(setup.options.flag("bodies")),
        takes_islands_(setup.options.flag("islands")),
        takes_host_shapes_(setup.options.flag("host_shapes")),
        has_arena_(setup.options.flag("arena")),
        precision_(kit::precision_settings(setup.options)),
        claim_(setup.options.text("claim")),
        passes_text_(setup.options.text("passes")) {
    for (char* name = passes_text_.data(); !passes_text_.empty() && name;) {
      passes_.push_back(name);
      name = std::strchr(name, ',');
      if (name) *name++ = '\0';
    }
    session_.driver = std::static_pointer_cast<FakeDriver>(setup.driver);
    session_.fault = std::make_shared<Fault>(setup.options.text("fail"), setup.options.integer("fail_after"),
                                             setup.options.integer("fail_times"), setup.options.text("fail_with") == "memory");
    if (kind_.empty()) kind_ = claim_.is_given() ? "regions" : "kernels";
    session_.fault->at("create");
  }

  std::span<const char* const> host_passes() const override { return passes_; }

  void prepare(const Graph&) override { session_.fault->at("capability"); }

  Support supports(const NodeView& node) const override {
    if (!claim_.is_given() || kind_ == "kernels") {
      if (Support refusal = kernel_support(node)) return refusal;
    }
    if (!claim_.is_given()) return {};
    if (!claim_.has(node)) return refuse(RhRefusalCode_FORCED, "option claim leaves it out");
    if (Support refusal = emulation_support(node)) return refusal;
    return body_support(node);
  }

  std::optional<kit::CostModel> costs() const override { return takes_islands_ ? std::nullopt : std::optional(kit::CostModel{}); }

  uint64_t host_inputs(const NodeView& node) const override { return takes_host_shapes_ ? kit::steering_inputs(node) : 0; }

  bool has_kernel(const NodeView& node) const override { return kind_ != "regions" && !kernel_support(node); }

  std::vector<kit::KernelRow> kernels() override { return kind_ == "regions" ? std::vector<kit::KernelRow>() : kernel_rows(session_); }

  std::unique_ptr<kit::Executable> compile(const Region& region) override {
    session_.fault->at("compile");
    ++session_.driver->counts().compilations;
    session_.driver->counts().nodes += static_cast<int64_t>(region.graph->node_count());
    return emulate(host_, session_, kit::in_precision(region, precision_));
  }

  std::optional<ArenaSettings> arena() const override { return has_arena_ ? std::optional(ArenaSettings{}) : std::nullopt; }

  kit::StreamHandle make_stream(kit::DeviceDriver&) override {
    session_.fault->at("stream");
    return session_.driver->make_late_stream(delay_us_);
  }

 private:
  Support body_support(const NodeView& node) const {
    Support refusal;
    Graph::for_each_subgraph(node.node(), [&](const Graph& body) {
      if (!takes_bodies_ && !refusal) refusal = refuse(RhRefusalCode_FORCED, "option bodies leaves it out");
      for (NodeId id : body.nodes()) {
        const NodeView inner(body, body.node(id));
        if (!refusal && inner.input_count() > 0) refusal = emulation_support(inner);
        if (!refusal) refusal = body_support(inner);
      }
    });
    return refusal;
  }

  kit::Host host_;
  Session session_;
  int64_t delay_us_;
  std::string kind_;
  bool takes_bodies_, takes_islands_, takes_host_shapes_, has_arena_;
  kit::PrecisionSettings precision_;
  Claim claim_;
  std::string passes_text_;
  std::vector<const char*> passes_;  ///< into passes_text_
};

std::string_view text_of_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

std::vector<kit::DeviceSpec> list_devices() {
  const char* count = std::getenv("FAKE_DEVICE_COUNT");
  const std::string_view kind = text_of_environment("FAKE_DEVICE_HARDWARE");
  const OrtHardwareDeviceType hardware = kind == "npu"   ? OrtHardwareDeviceType_NPU
                                         : kind == "cpu" ? OrtHardwareDeviceType_CPU
                                                         : OrtHardwareDeviceType_GPU;
  std::vector<kit::DeviceSpec> devices;
  for (int id = 0; id < std::clamp(count ? std::atoi(count) : 1, 1, kMostDevices); ++id)
    devices.push_back({.memory_name = "FakeDevice", .id = id, .hardware = hardware});
  return devices;
}

constexpr kit::ProviderKind kFakeDevice = {
    .name = "FakeDeviceExecutionProvider",
    .vendor = "Roundhouse",
    .vendor_id = 0xfade,
    .version = "1.0.0",
    .options = kOptions,
    .make = kit::make<FakeDevice>,
    .devices = list_devices,
    .open = [](int device_id) -> std::shared_ptr<kit::DeviceDriver> { return std::make_shared<FakeDriver>(device_id); },
};

}  // namespace

}  // namespace rh::fake_device

RH_EXPORT_KIT_PROVIDER(rh::fake_device::kFakeDevice)
