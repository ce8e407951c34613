#pragma once

#include <string>
#include <vector>

namespace rh::cli {

/// What a provider is known not to do: a file of lines "PATTERN: REASON", where # begins a comment line.
class SkipList {
 public:
  struct Entry {
    std::string pattern, reason;
    int line = 0;
    bool known = false;   ///< a check has a name that it fits
    bool needed = false;  ///< such a check failed
  };

  SkipList() = default;
  /// Throws std::runtime_error naming file and line where a line gives no reason, or the file cannot be read.
  explicit SkipList(const std::string& path);

  /// The first entry that a name fits; null where none does.
  Entry* find(const std::string& name);
  /// There is a check of this name.
  void mark_known(const std::string& name);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Whether a name fits a pattern of a shell, whose * stands for slashes as well.
bool fits(const std::string& pattern, const std::string& name);

}  // namespace rh::cli
