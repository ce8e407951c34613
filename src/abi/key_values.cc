#include "abi/key_values.h"

OrtKeyValuePairs::OrtKeyValuePairs(std::map<std::string, std::string> pairs) : pairs_(pairs.begin(), pairs.end()) { refresh(); }

OrtKeyValuePairs::OrtKeyValuePairs(std::map<std::string, std::string, std::less<>> pairs) : pairs_(std::move(pairs)) { refresh(); }

OrtKeyValuePairs& OrtKeyValuePairs::operator=(const OrtKeyValuePairs& other) {
  pairs_ = other.pairs_;
  refresh();
  return *this;
}

void OrtKeyValuePairs::set(std::string_view key, std::string_view value) {
  pairs_.insert_or_assign(std::string(key), std::string(value));
  refresh();
}

void OrtKeyValuePairs::remove(std::string_view key) {
  if (const auto found = pairs_.find(key); found != pairs_.end()) pairs_.erase(found);
  refresh();
}

const char* OrtKeyValuePairs::find(std::string_view key) const {
  const auto found = pairs_.find(key);
  return found == pairs_.end() ? nullptr : found->second.c_str();
}

void OrtKeyValuePairs::refresh() {
  keys_.clear();
  values_.clear();
  for (const auto& [key, value] : pairs_) {
    keys_.push_back(key.c_str());
    values_.push_back(value.c_str());
  }
}
