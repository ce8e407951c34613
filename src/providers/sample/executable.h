#pragma once

#include "providers/kit/regions/region_provider.h"
#include "providers/sample/lowering.h"

namespace rh::sample {

/// One program for all sizes.
class SampleExecutable final : public kit::Executable {
 public:
  SampleExecutable(std::shared_ptr<const Vendor> vendor, OwnedProgram program) : vendor_(std::move(vendor)), program_(std::move(program)) {}
  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override;
  const OwnedProgram& program() const { return program_; }

 private:
  std::shared_ptr<const Vendor> vendor_;
  OwnedProgram program_;
};

/// A program for each class of sizes, as vendors have them that compile for fixed sizes. Inputs are padded to the ends of their buckets.
/// Null where sizes of inputs are unknown, or those of a result do not follow from them.
std::unique_ptr<kit::Executable> make_class_executable(std::shared_ptr<const Vendor> vendor, const kit::Region& region);

}  // namespace rh::sample
