#pragma once

#include "providers/kit/regions/region_provider.h"

namespace rh {

/// Takes all nodes but Neg, and compiles none.
class DeviceWithoutNeg : public kit::RegionProvider {
 public:
  kit::Support supports(const NodeView& node) const override {
    return node.op_type() == "Neg" ? kit::refuse(RhRefusalCode_OP, "it does not run Neg") : kit::Support();
  }
  std::unique_ptr<kit::Executable> compile(const kit::Region&) override { return nullptr; }
};

}  // namespace rh
