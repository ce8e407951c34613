#pragma once

#include <string_view>

#include "ops/schema.h"

namespace rh::ops {

/// The domain of operators whose first input and output have their channels last; otherwise they are those of the standard or of
/// "com.microsoft" with the same name.
inline constexpr char kChannelsLastDomain[] = "com.ms.internal.nhwc";

/// Whether an operator's first input and output have channels as their second axis, and it is one that providers which prefer channels last
/// get converted unless they say otherwise.
bool is_layout_sensitive(std::string_view domain, std::string_view op_type);

/// As find_schema, of operators in that domain too: their signature and attributes, not their shapes. The versions are those of the
/// interface, which has no 22 there.
const OpSchema* find_signature(std::string_view domain, std::string_view op_type, int opset);

}  // namespace rh::ops
