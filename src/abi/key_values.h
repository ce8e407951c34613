#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "roundhouse/onnxruntime_c_api.h"

/// String pairs, sorted by key, that can be handed out as two arrays of C strings.
struct OrtKeyValuePairs {
  OrtKeyValuePairs() = default;
  explicit OrtKeyValuePairs(std::map<std::string, std::string> pairs);
  OrtKeyValuePairs(const OrtKeyValuePairs& other) : OrtKeyValuePairs(other.pairs_) {}
  OrtKeyValuePairs& operator=(const OrtKeyValuePairs& other);

  void set(std::string_view key, std::string_view value);
  void remove(std::string_view key);
  /// Null where there is no such key.
  const char* find(std::string_view key) const;

  const std::map<std::string, std::string, std::less<>>& pairs() const { return pairs_; }
  /// Valid until the next change.
  const std::vector<const char*>& keys() const { return keys_; }
  const std::vector<const char*>& values() const { return values_; }

 private:
  explicit OrtKeyValuePairs(std::map<std::string, std::string, std::less<>> pairs);
  void refresh();

  std::map<std::string, std::string, std::less<>> pairs_;
  std::vector<const char*> keys_;
  std::vector<const char*> values_;
};
