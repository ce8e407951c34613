#include "providers/coreml/executable.h"

#include "providers/coreml/lowering.h"
#include "providers/kit/shapes/padding.h"
#include "providers/kit/shapes/sized_executable.h"

namespace rh::coreml {

namespace {

using kit::Region;

constexpr size_t kProgramBytes = size_t{1} << 30;

class CoreMlExecutable final : public kit::SizedExecutable {
 public:
  CoreMlExecutable(std::shared_ptr<const Shared> shared, Region given)
      : SizedExecutable(shared->host, given, {shared->settings.most_programs, kProgramBytes, "coreml_load"}),
        shared_(std::move(shared)),
        region_(std::move(given)) {
    const Program program = lowered(region_, sizes(), sizes().trial());
    if (sizes().open() == 0) {
      set_only(std::make_shared<const LoadedProgram>(shared_, program));
    } else {
      own_constants();
    }
  }

  static Program lowered(const Region& region, const kit::RegionSizes& sizes, const std::vector<int64_t>& of_open) {
    return lower(region, [&](const TensorType& type) { return sizes.shape(type, of_open); });
  }

 private:
  /// Constants look into the host's memory only while it compiles.
  void own_constants() {
    const std::shared_ptr<Graph> graph = region_.graph->clone();
    for (ValueId id = 0; id < graph->value_count(); ++id) {
      if (const Tensor* constant = graph->value(id).constant_tensor()) graph->set_initializer(id, Value(constant->clone()));
    }
    region_.graph = graph;
  }
  std::string model() const override { return kit::model_of(region_); }
  std::shared_ptr<const kit::SizedProgram> compile(const std::vector<int64_t>& of_open) const override {
    return std::make_shared<const LoadedProgram>(shared_, lowered(region_, sizes(), of_open));
  }

  /// A feature's elements as those of the region's output, without what a larger program gives beyond.
  void give(const TensorView& result, const MutableView& to) const override {
    Tensor same(to.dtype(), result.shape());
    const auto count = static_cast<size_t>(result.elements());
    switch (to.dtype()) {
      case DType::float32:
      case DType::int32: return kit::copy_common(result, to);
      case DType::float16:
        for (size_t i = 0; i < count; ++i) same.data<Float16>()[i] = Float16(result.data<float>()[i]);
        break;
      case DType::boolean:
        for (size_t i = 0; i < count; ++i) same.data<bool>()[i] = result.data<int32_t>()[i] != 0;
        break;
      default:
        for (size_t i = 0; i < count; ++i) same.data<int64_t>()[i] = result.data<int32_t>()[i];
    }
    kit::copy_common(same.view(), to);
  }

  std::shared_ptr<const Shared> shared_;
  Region region_;  ///< in the session's precision
};

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const Region& region) {
  Region given = kit::in_precision(region, shared->settings.precision);
  return std::make_unique<CoreMlExecutable>(std::move(shared), std::move(given));
}

void try_region(const Shared& shared, const Region& region) {
  const Region given = kit::in_precision(region, shared.settings.precision);
  const kit::RegionSizes sizes(given);
  CoreMlExecutable::lowered(given, sizes, sizes.trial());
}

}  // namespace rh::coreml
