// A provider on the kit, to copy: Add, Mul, MatMul and If on floats, by a made-up vendor's library (tests/stands/sample).
#include <algorithm>

#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/ep.h"
#include "providers/sample/executable.h"

namespace rh::sample {

namespace {

using kit::OptionRow, kit::Region, kit::Support, kit::refuse;

constexpr OptionRow kOptions[] = {
    {"library_path", OptionRow::Type::text, "", "the vendor's library"},
    {"least_nodes", OptionRow::Type::integer, "1", "regions of fewer nodes stay with other providers", 1, 1000000},
    {"take_if", OptionRow::Type::flag, "1", "whether it takes If"},
    {"plan_classes", OptionRow::Type::flag, "0", "whether a region is compiled for each class of sizes, not once for all"},
    kit::kCacheOption,
    kit::kCacheFolderOption,
    kit::kCacheLimitOption,
};

bool is_float(const ValueType& type) { return type.is_tensor() && type.tensor().dtype == DType::float32; }

class SampleProvider final : public kit::RegionProvider, public kit::ArtifactMaker {
 public:
  explicit SampleProvider(const kit::Options& options)
      : vendor_(std::make_shared<const Vendor>(options.text("library_path"))),
        cache_(kit::cache_settings(options)),
        least_nodes_(static_cast<size_t>(options.integer("least_nodes"))),
        takes_if_(options.flag("take_if")),
        has_classes_(options.flag("plan_classes")) {}

  Support supports(const NodeView& node) const override {
    if (!node.domain().empty()) return refuse(RhRefusalCode_OP, "it has no operators of domain '{}'", node.domain());
    if (node.op_type() == "If") {
      if (!takes_if_) return refuse(RhRefusalCode_FORCED, "option take_if is 0");
      if (node.constant_input(0)) return refuse(RhRefusalCode_SHAPE, "its condition is constant");
      for (ValueId output : node.node().outputs) {
        if (!is_float(node.graph().value(output).type)) return refuse(RhRefusalCode_TYPE, "it gives float tensors alone");
      }
      return supports_bodies(node);
    }
    if (!step_of(node.op_type())) return refuse(RhRefusalCode_OP, "it runs Add, Mul, MatMul and If");
    if (node.op_type() != "MatMul" && node.opset() < 7) return refuse(RhRefusalCode_OPSET, "before opset 7 an axis says how it broadcasts");
    for (const int i : {0, 1}) {
      const ValueType& type = node.input_type(i);
      if (!is_float(type)) return refuse(RhRefusalCode_TYPE, "input {} is {}, it runs float tensors", i, type.to_string());
      if (node.op_type() != "MatMul") continue;
      if (!type.tensor().has_rank() || type.tensor().rank() != 2) {
        return refuse(RhRefusalCode_SHAPE, "input {} is {}, its MatMul takes two matrices", i, type.to_string());
      }
    }
    return {};
  }

  size_t least_nodes() const override { return least_nodes_; }

  std::unique_ptr<kit::Executable> compile(const Region& region) override {
    if (has_classes_) {
      if (std::unique_ptr<kit::Executable> made = make_class_executable(vendor_, region)) return made;
    }
    return std::make_unique<SampleExecutable>(vendor_, lower(*vendor_, *region.graph, region.inputs, region.outputs));
  }

  // Classes are compiled when runs need them, so there is nothing to write down before.
  kit::ArtifactMaker* artifacts() override { return has_classes_ ? nullptr : this; }
  kit::CacheSettings cache() const override { return cache_; }
  std::string made_by() const override { return fmt::format("the sample vendor's library {}", vendor_->version()); }

  // The names of the nodes, which profiles show, a line each and an empty one, and the vendor's bytes.
  std::string save(const kit::Executable& executable) const override {
    const OwnedProgram& made = static_cast<const SampleExecutable&>(executable).program();
    std::string bytes;
    for (std::string step : made.steps) {
      std::ranges::replace(step, '\n', ' ');
      bytes += (step.empty() ? "-" : step) + "\n";
    }
    bytes += '\n';
    const size_t head = bytes.size(), size = vendor_->save(made.program.get(), nullptr, 0);
    bytes.resize(head + size);
    if (vendor_->save(made.program.get(), bytes.data() + head, size) != size) {
      fail(ErrorCode::ep_fail, "the sample vendor's sv_save does not give the {} bytes that it said", size);
    }
    return bytes;
  }

  std::unique_ptr<kit::Executable> load(const kit::OwnedBytes& given, const Region&) override {
    std::string_view bytes = given.view;
    OwnedProgram program{{nullptr, vendor_->destroy}, {}};
    for (size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      const std::string_view line = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (line.empty()) break;
      program.steps.emplace_back(line == "-" ? "" : line);
    }
    program.program.reset(vendor_->load(bytes.data(), bytes.size()));
    if (!program.program) fail(ErrorCode::ep_fail, "the sample vendor's sv_load does not take the {} bytes", bytes.size());
    return std::make_unique<SampleExecutable>(vendor_, std::move(program));
  }

 private:
  std::shared_ptr<const Vendor> vendor_;
  kit::CacheSettings cache_;
  size_t least_nodes_;
  bool takes_if_, has_classes_;
};

constexpr kit::ProviderKind kSample = {"SampleExecutionProvider", "Roundhouse", 0x5a17, "1.0.0", kOptions, kit::make<SampleProvider>};

}  // namespace

}  // namespace rh::sample

RH_EXPORT_KIT_PROVIDER(rh::sample::kSample)
