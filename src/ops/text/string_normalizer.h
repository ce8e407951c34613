#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// StringNormalizer: ai.onnx 10. Drops stop words from [C] or [1, C] strings and changes their case; where none is left, one empty string
/// is. Letters are changed by Unicode's simple case mappings, the same in every locale.
struct StringNormalizer {
  enum class CaseChange : uint8_t { none, lower, upper };

  CaseChange case_change = CaseChange::none;
  bool case_sensitive = false;  ///< how stop words are compared
  std::vector<std::string> stop_words;

  static StringNormalizer read(const NodeView& node);
};

void infer(const StringNormalizer& op, InferenceContext& context);

}  // namespace rh::ops
