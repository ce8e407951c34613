#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft Tokenizer: splits strings [C] or [N, C] into tokens along a new last axis, filled up with `pad_value`.
struct Tokenizer {
  enum class Mode : uint8_t {
    characters,  ///< each character is a token
    separators,  ///< tokens are what is between matches
    tokens,      ///< tokens are the matches
  };

  Mode mode = Mode::characters;
  std::vector<std::string> patterns;  ///< leftmost-longest regular expressions; separators apply one after the other
  bool mark = false;                  ///< "\x02" stands before and "\x03" after the tokens of each string
  int64_t least_characters = 1;       ///< shorter tokens are dropped
  std::string pad_value;

  static Tokenizer read(const NodeView& node);
};

void infer(const Tokenizer& op, InferenceContext& context);

}  // namespace rh::ops
