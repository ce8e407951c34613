// What was called, by whom, in which order, for providers that write it down.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace rh::test::calls {

/// The calls so far, a line each, and the names of what was seen.
class Record {
 public:
  inline void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = threads_.emplace(std::this_thread::get_id(), threads_.size());
    text_ += (at->second == 0 ? "" : "[thread] ") + line + "\n";
  }
  /// A new name of this kind: "allocator2".
  std::string make(const void* object, const std::string& kind) {
    const std::lock_guard lock(mutex_);
    return names_[object] = kind + std::to_string(++counts_[kind]);
  }
  void call(const void* object, const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_[object] = name;
  }
  std::string name(const void* object) {
    const std::lock_guard lock(mutex_);
    if (!object) return "null";
    const auto at = names_.find(object);
    return at == names_.end() ? "other" : at->second;
  }
  /// The thread that calls this is the host's own from here on.
  std::string take() {
    const std::lock_guard lock(mutex_);
    threads_.clear();
    threads_.emplace(std::this_thread::get_id(), 0);
    return std::exchange(text_, {});
  }
  void clear_names() {
    const std::lock_guard lock(mutex_);
    names_.clear();
    counts_.clear();
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::map<const void*, std::string> names_;
  std::map<std::string, int> counts_;
  std::map<std::thread::id, size_t> threads_;
};

inline Record& record() {
  static Record made;
  return made;
}
inline void add(const std::string& line) { record().add(line); }
inline std::string name(const void* object) { return record().name(object); }
/// The lines since the last call, for a program that finds this by name.
inline const char* take_record() {
  static std::string taken;
  taken = record().take();
  return taken.c_str();
}

}  // namespace rh::test::calls
