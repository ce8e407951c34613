#include "providers/migraphx/executable.h"

#include "providers/kit/shapes/sized_executable.h"

namespace rh::migraphx {

namespace {

using kit::Region;

constexpr std::string_view kOpen = "parsed; compiled when runs bring sizes";  ///< what is kept of a region of open sizes

/// Parsed with some sizes, which shows what MIGraphX takes.
Owned<Program> tried(const Runtime& runtime, const Source& source, const kit::RegionSizes& sizes) {
  const std::vector<int64_t> some = sizes.trial();
  const std::vector<Shape> given = sizes.outputs(some);
  Owned<Program> parsed = parse(runtime, source, sizes.inputs(some));
  check_outputs(runtime, *parsed, source, given);
  return parsed;
}

class MiGraphXExecutable final : public kit::SizedExecutable {
 public:
  MiGraphXExecutable(const std::shared_ptr<const Shared>& shared, const Region& region)
      : MiGraphXExecutable(shared, region, source_of(region, shared->settings.precision)) {
    Owned<Program> parsed = tried(shared_->runtime, source_, sizes());
    if (sizes().open() > 0) return;
    set_only(std::make_shared<const CompiledProgram>(shared_, std::move(parsed), source_, sizes().outputs({})));
    source_.model = {};  // of which MIGraphX has kept what it needs
  }

  /// Of what save() gave.
  MiGraphXExecutable(const std::shared_ptr<const Shared>& shared, const Region& region, const kit::OwnedBytes& bytes)
      : MiGraphXExecutable(shared, region, source_of(region, {})) {
    if (bytes.view == kOpen) return;
    set_only(load(bytes, {}));
    source_.model = {};
  }

  std::string save() const { return only() ? save(*only()) : std::string(kOpen); }
  bool is_open() const { return !only(); }

 private:
  using SharedProgram = std::shared_ptr<const kit::SizedProgram>;

  MiGraphXExecutable(std::shared_ptr<const Shared> shared, const Region& region, Source source)
      : SizedExecutable(shared->host, region, {shared->settings.most_programs, shared->settings.program_bytes, "migraphx_compile"},
                        region.kept),
        shared_(std::move(shared)),
        source_(std::move(source)) {}

  SharedProgram compile(const std::vector<int64_t>& of_open) const override {
    Owned<Program> parsed = parse(shared_->runtime, source_, sizes().inputs(of_open));
    return std::make_shared<const CompiledProgram>(shared_, std::move(parsed), source_, sizes().outputs(of_open));
  }
  std::string model() const override { return source_.model; }
  std::string save(const kit::SizedProgram& program) const override { return static_cast<const CompiledProgram&>(program).save(); }
  SharedProgram load(const kit::OwnedBytes& bytes, const std::vector<int64_t>& of_open) const override {
    return std::make_shared<const CompiledProgram>(shared_, bytes.view, source_, sizes().outputs(of_open));
  }

  std::shared_ptr<const Shared> shared_;
  Source source_;
};

const MiGraphXExecutable& own(const kit::Executable& executable) { return static_cast<const MiGraphXExecutable&>(executable); }

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const Region& region) {
  return std::make_unique<MiGraphXExecutable>(shared, region);
}

void try_region(const Shared& shared, const Region& region) {
  tried(shared.runtime, source_of(region, shared.settings.precision), kit::RegionSizes(region));
}

std::unique_ptr<kit::Executable> load_executable(std::shared_ptr<const Shared> shared, const Region& region, const kit::OwnedBytes& bytes) {
  return std::make_unique<MiGraphXExecutable>(shared, region, bytes);
}

std::string save_executable(const kit::Executable& executable) { return own(executable).save(); }

bool has_open_sizes(const kit::Executable& executable) { return own(executable).is_open(); }

}  // namespace rh::migraphx
