#pragma once

#include <string>
#include <string_view>

struct RegexLibrary;

namespace rh {

/// A regular expression in RE2's syntax over UTF-8; matching takes time linear in the text. Safe to use from several threads.
class Regex {
 public:
  enum class Prefer : unsigned char { first, longest };  ///< of alternatives at one place

  /// Throws Error{invalid_argument} that says what is wrong with the pattern, and as optional_library_table does.
  explicit Regex(const std::string& pattern, Prefer prefer = Prefer::first);
  ~Regex();
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&&) = delete;

  bool matches_all(std::string_view text) const;

  struct Match {
    size_t begin = 0, end = 0;
    bool found = false;
  };
  /// The first match at or after `from`; anchors and word boundaries see the whole text.
  Match find(std::string_view text, size_t from) const;

 private:
  const RegexLibrary* library_;
  void* regex_;
};

}  // namespace rh
