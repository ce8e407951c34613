#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

/// Words of the graphs' text form, shared by its printer and its parser.
namespace rh::text {

/// Length of the identifier at the start of `text`; 0 where there is none. Identifiers start with a letter, '_' or '/', and go on with
/// these, digits,
/// '.' and "::".
size_t identifier_length(std::string_view text);
/// In double quotes, with backslash escapes for quotes, backslashes and control characters.
std::string quote(std::string_view text);
/// The name as it is where it is an identifier that means nothing else, else quoted.
std::string name_text(std::string_view name);
/// "Add", "com.microsoft.Gelu", or "domain"."name" where these are no identifiers.
std::string op_text(std::string_view domain, std::string_view op_type);

enum class TokenKind : uint8_t { end, identifier, string, number, punctuation };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< as written: of strings without the quotes, escapes still in
  size_t offset = 0;
};

/// Cuts a text into tokens. '#' starts a comment that ends with the line. "=>" and "..." are one token each, other punctuation one
/// character; numbers have no sign.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& token() const { return token_; }
  void advance();
  size_t rest_length() const { return text_.size() - token_.offset; }
  /// The token after this one.
  Token peek() const;
  /// The content of a string token, escapes resolved.
  std::string unescape(const Token& token) const;
  /// Throws Error{invalid_graph}: "text:3:14: <message>".
  [[noreturn]] void fail_at(size_t offset, const std::string& message) const;

 private:
  std::string_view text_;
  size_t at_ = 0;
  Token token_;
};

}  // namespace rh::text
