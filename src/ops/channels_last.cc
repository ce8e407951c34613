#include "ops/channels_last.h"

#include <algorithm>

namespace rh::ops {

namespace {

constexpr std::string_view kLayoutSensitive[] = {
    "AveragePool",
    "BatchNormalization",
    "Conv",
    "ConvTranspose",
    "DepthToSpace",
    "FusedConv",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "GridSample",
    "InstanceNormalization",
    "LRN",
    "LpPool",
    "MaxPool",
    "MaxUnpool",
    "QLinearAveragePool",
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "Resize",
    "SpaceToDepth",
};

// Of the standard, which added bfloat16 to many operators: the domain has their versions before it and behind it.
constexpr int kVersionThatIsNone = 22;

}  // namespace

bool is_layout_sensitive(std::string_view domain, std::string_view op_type) {
  return (domain.empty() || domain == "com.microsoft") && std::ranges::find(kLayoutSensitive, op_type) != std::end(kLayoutSensitive);
}

const OpSchema* find_signature(std::string_view domain, std::string_view op_type, int opset) {
  if (domain != kChannelsLastDomain) return find_schema(domain, op_type, opset);
  const OpSchema* standard = find_schema("", op_type, opset);
  if (standard && standard->since_version == kVersionThatIsNone) standard = find_schema("", op_type, kVersionThatIsNone - 1);
  return standard ? standard : find_schema("com.microsoft", op_type, opset);
}

}  // namespace rh::ops
