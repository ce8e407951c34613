#pragma once

#include <string>
#include <string_view>

namespace rh {

/// An empty file that other libraries write and read by its name: of the system's memory where it has such, else one for the time being in
/// its folder of temporary files. It goes with this object. Every function throws Error{fail} with the system's reason.
class MemoryFile {
 public:
  /// `what` names the content in messages: "a compiled model".
  explicit MemoryFile(std::string_view what);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }
  /// Appends the file's content.
  void append_to(std::string& bytes) const;
  void write(std::string_view bytes) const;

 private:
  std::string what_, path_;
  [[maybe_unused]] int descriptor_ = -1;
};

}  // namespace rh
