#pragma once

#include <bit>
#include <charconv>
#include <string>
#include <string_view>

#include "graph/text_syntax.h"
#include "graph/type.h"
#include "tensor/value.h"

namespace rh::text {

inline constexpr int kMaxDepth = 64;                         ///< of types, dimension expressions and subgraphs inside each other
inline constexpr size_t kMaxUniformBytes = size_t{1} << 26;  ///< of a constant written as {x, ...}

/// Reads a number that fills `text`; "0x..." gives the bits of a float. False where it is none or out of range.
template <typename T>
bool parse_number(const std::string& text, T& value) {
  const char* last = text.data() + text.size();
  if constexpr (std::is_same_v<T, bool>) {
    value = text == "1";
    return text == "0" || text == "1";
  } else if constexpr (std::is_same_v<T, float>) {
    if (text.starts_with("0x")) {
      uint32_t bits = 0;
      const auto [end, error] = std::from_chars(text.data() + 2, last, bits, 16);
      value = std::bit_cast<float>(bits);
      return error == std::errc() && end == last;
    }
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last;
  } else if constexpr (std::is_arithmetic_v<T>) {
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last;
  } else {
    float wide = 0;
    if (!parse_number(text, wide)) return false;
    value = T(wide);
    return true;
  }
}

/// Reads the parts of a graph's text that are not graphs: names, types, dimensions and constants.
class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) {}

 protected:
  const Token& token() const { return lexer_.token(); }
  bool at_end() const { return token().kind == TokenKind::end; }
  bool at(std::string_view punctuation) const { return token().kind == TokenKind::punctuation && token().text == punctuation; }
  bool at_word(std::string_view word) const { return token().kind == TokenKind::identifier && token().text == word; }
  bool take(std::string_view punctuation);
  bool take_word(std::string_view word);
  void expect(std::string_view punctuation);
  [[noreturn]] void fail_expected(std::string_view what) const;
  [[noreturn]] void fail_here(const std::string& message) const { lexer_.fail_at(token().offset, message); }

  std::string name();  ///< an identifier or a string
  std::string string_literal();
  int64_t integer(std::string_view what, bool negative = false);  ///< with an optional sign, or that of a minus before it
  ValueType type();
  /// An element type: "float", "int64", ...
  DType element_type();
  Dim dim() { return sum(); }
  /// "{1, 2}" or "{1, ...}" as a tensor of a static type.
  Tensor elements(const TensorType& type);
  /// "float[2] {1, 2}" or "undefined".
  Tensor tensor();
  /// "coo(float[2] {1, 2}, int64[2] {0, 5})".
  SparseTensor sparse_content(const TensorType& type);

  /// Counts nested forms; throws at kMaxDepth.
  class Nested {
   public:
    explicit Nested(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kMaxDepth) reader_.fail_here("forms are nested too deeply, at most 64 levels are read");
    }
    ~Nested() { --reader_.depth_; }
    Nested(const Nested&) = delete;

   private:
    Reader& reader_;
  };

  Lexer lexer_;

 private:
  friend class Nested;

  Dim sum();
  Dim product(bool negative);
  Dim factor();
  Shape static_shape(const TensorType& type);
  std::string element_text();
  Tensor uniform(const Tensor& one, const Shape& shape, size_t offset);
  void set_element(Tensor& tensor, int64_t index);

  int depth_ = 0;
};

}  // namespace rh::text
