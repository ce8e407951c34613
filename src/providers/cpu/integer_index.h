#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rh::cpu {

/// Where integers stand in a list: a table by value where they lie close together, otherwise by hash.
class IntegerIndex {
 public:
  static constexpr int64_t kNone = -1;

  /// The key's index: of equal keys that of the first.
  int64_t add(int64_t key, int64_t index) { return map_.try_emplace(key, index).first->second; }
  /// After the last add().
  void finish() {
    if (map_.empty()) return;
    const auto [low, high] = std::minmax_element(map_.begin(), map_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const uint64_t span = static_cast<uint64_t>(high->first) - static_cast<uint64_t>(low->first);
    if (span / kSparsest >= map_.size()) return;
    first_ = static_cast<uint64_t>(low->first);
    table_.assign(static_cast<size_t>(span) + 1, kNone);
    for (const auto& [key, index] : map_) table_[static_cast<size_t>(static_cast<uint64_t>(key) - first_)] = index;
  }

  /// kNone where the key is not there.
  int64_t find(int64_t key) const {
    if (!table_.empty()) {
      const uint64_t at = static_cast<uint64_t>(key) - first_;
      return at < table_.size() ? table_[static_cast<size_t>(at)] : kNone;
    }
    const auto at = map_.find(key);
    return at == map_.end() ? kNone : at->second;
  }

 private:
  static constexpr uint64_t kSparsest = 8;  ///< values of the table a key

  std::unordered_map<int64_t, int64_t> map_;
  uint64_t first_ = 0;
  std::vector<int64_t> table_;
};

}  // namespace rh::cpu
