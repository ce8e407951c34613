#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

/// What the text of a configuration entry may be. Each rule has `read(rule, entry, field)`, which sets the field, or throws Error.
namespace rh::setting {

struct Entry {
  std::string_view key, text;
};

/// What a text that a rule does not know, or an empty one, does.
enum class Unknown : uint8_t {
  is_error,
  is_error_unless_empty,  ///< an empty one counts as none
  is_ignored,
};

/// What a rule says of itself where it refuses a text.
struct Refusal {
  ErrorCode code = ErrorCode::invalid_argument;
  Unknown unknown = Unknown::is_error;

  /// Whether the text counts as no entry at all; throws Error with what was expected otherwise.
  bool ignores(Entry entry, std::string_view expected) const;
};

/// Texts with a name each.
template <typename E>
struct Named {
  std::string_view name;
  E value;
};

template <typename E, size_t N>
struct Choice {
  std::array<Named<E>, N> values;
  Refusal refusal = {};

  constexpr Choice with(Unknown unknown, ErrorCode code = ErrorCode::invalid_argument) const { return {values, {code, unknown}}; }
  /// The name of a value.
  constexpr std::string_view name_of(E value) const {
    for (const Named<E>& named : values) {
      if (named.value == value) return named.name;
    }
    return {};
  }
};
template <typename E, size_t N>
constexpr Choice<E, N> one_of(const Named<E> (&values)[N]) {
  return {std::to_array(values)};
}

/// "0" or "1".
struct Flag {
  Refusal refusal = {};
};
inline constexpr Flag kFlag;
constexpr Flag flag_or_empty(ErrorCode code) { return {{code, Unknown::is_error_unless_empty}}; }

/// One text gives `value`, every other one the opposite.
struct Switch {
  std::string_view text;
  bool value;
  bool empty_counts = true;  ///< else an empty one is no entry
};

template <typename T>
struct Number {
  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::max();
  T step = 1;
  std::string_view unit = {};  ///< "bytes"
  std::string_view note = {};  ///< ends what is said of what is expected
  Refusal refusal = {};

  constexpr Number or_empty() const {
    Number changed = *this;
    changed.refusal.unknown = Unknown::is_error_unless_empty;
    return changed;
  }
};

/// Any text.
struct Text {
  std::string_view form;  ///< for the documentation: "a folder"
};

/// A text of a form that a function reads, which throws Error.
template <typename T>
struct Parsed {
  T (*parse)(Entry entry);
  std::string_view form;
};

/// Texts without a meaning here: providers read them.
template <size_t N>
struct Word {
  std::array<std::string_view, N> words;
  Refusal refusal = {};
};
template <typename... Words>
constexpr Word<sizeof...(Words)> word(const Words&... words) {
  return {{words...}, {ErrorCode::invalid_argument, Unknown::is_error_unless_empty}};
}

/// "one of: strict, fp32, fast, bf16; the nearest is 'strict'".
std::string expected_words(std::span<const std::string_view> words, std::string_view given);
/// "a number of bytes from 1 to 9, a multiple of 4"; a bound that is the type's own is left out.
std::string expected_number(std::optional<int64_t> least, std::optional<int64_t> most, int64_t step, std::string_view unit,
                            std::string_view note);

template <typename T>
std::string expected(const Number<T>& rule) {
  constexpr T lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  const bool has_least = std::is_unsigned_v<T> || rule.least != lowest;
  return expected_number(has_least ? std::optional(static_cast<int64_t>(rule.least)) : std::nullopt,
                         rule.most != highest ? std::optional(static_cast<int64_t>(rule.most)) : std::nullopt,
                         static_cast<int64_t>(rule.step), rule.unit, rule.note);
}

/// A field that a row without one has: the text is checked and otherwise left to providers.
struct NoField {
  template <typename T>
  NoField& operator=(const T&) {
    return *this;
  }
};

template <typename Field>
void read(const Flag& rule, Entry entry, Field& to) {
  if (entry.text == "0" || entry.text == "1") {
    to = entry.text == "1";
  } else {
    rule.refusal.ignores(entry, "0 or 1");
  }
}

template <typename Field>
void read(const Switch& rule, Entry entry, Field& to) {
  if (rule.empty_counts || !entry.text.empty()) to = (entry.text == rule.text) == rule.value;
}

template <typename T, typename Field>
void read(const Number<T>& rule, Entry entry, Field& to) {
  T value = 0;
  const char* last = entry.text.data() + entry.text.size();
  const auto [end, error] = std::from_chars(entry.text.data(), last, value);
  if (error == std::errc() && end == last && value >= rule.least && value <= rule.most && value % rule.step == 0) {
    to = value;
  } else {
    rule.refusal.ignores(entry, expected(rule));
  }
}

template <typename E, size_t N, typename Field>
void read(const Choice<E, N>& rule, Entry entry, Field& to) {
  std::array<std::string_view, N> names;
  for (size_t i = 0; i < N; ++i) {
    names[i] = rule.values[i].name;
    if (names[i] != entry.text) continue;
    to = rule.values[i].value;
    return;
  }
  if (rule.refusal.unknown != Unknown::is_ignored) rule.refusal.ignores(entry, expected_words(names, entry.text));
}

template <size_t N, typename Field>
void read(const Word<N>& rule, Entry entry, Field&) {
  for (std::string_view known : rule.words) {
    if (known == entry.text) return;
  }
  rule.refusal.ignores(entry, expected_words(rule.words, entry.text));
}

template <typename Field>
void read(const Text&, Entry entry, Field& to) {
  to = std::string(entry.text);
}

template <typename T, typename Field>
void read(const Parsed<T>& rule, Entry entry, Field& to) {
  to = rule.parse(entry);
}

}  // namespace rh::setting
