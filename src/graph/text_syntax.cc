#include "graph/text_syntax.h"

#include <algorithm>
#include <array>

#include "tensor/dtype.h"

namespace rh::text {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool is_reserved(std::string_view word) {
  static constexpr std::array<std::string_view, 13> kWords = {"_",        "inf", "nan",    "type", "undefined", "sparse_tensor", "seq",
                                                              "optional", "map", "opaque", "coo",  "csr",       "block"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end() || dtype_from_string(word) != DType::undefined;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

size_t number_length(std::string_view text) {
  size_t n = 0;
  if (text.starts_with("0x")) {
    for (n = 2; n < text.size() && hex_digit(text[n]) >= 0;) ++n;
    return n;
  }
  const auto digits = [&] {
    while (n < text.size() && is_digit(text[n])) ++n;
  };
  digits();
  if (n + 1 < text.size() && text[n] == '.' && text[n + 1] != '.') {
    ++n;
    digits();
  }
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    ++n;
    if (n < text.size() && (text[n] == '-' || text[n] == '+')) ++n;
    digits();
  }
  return n;
}

}  // namespace

size_t identifier_length(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return 0;
  size_t n = 1;
  while (n < text.size()) {
    if (is_letter(text[n]) || is_digit(text[n]) || text[n] == '.') {
      ++n;
    } else if (text.substr(n).starts_with("::")) {
      n += 2;
    } else {
      break;
    }
  }
  return n;
}

std::string quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += "\\x";
      out += kHex[(c >> 4) & 15];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string name_text(std::string_view name) {
  return !name.empty() && identifier_length(name) == name.size() && !is_reserved(name) ? std::string(name) : quote(name);
}

std::string op_text(std::string_view domain, std::string_view op_type) {
  const bool plain = name_text(op_type) == op_type && op_type.find('.') == op_type.npos &&
                     (domain.empty() || name_text(domain) == domain) && !domain.ends_with('.');
  if (!plain) return quote(domain) + "." + quote(op_type);
  return domain.empty() ? std::string(op_type) : std::string(domain) + "." + std::string(op_type);
}

void Lexer::advance() {
  while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      ++at_;
    }
  }
  token_ = {TokenKind::end, {}, at_};
  if (at_ == text_.size()) return;
  const std::string_view rest = text_.substr(at_);
  if (rest[0] == '"') {
    size_t n = 1;
    while (n < rest.size() && rest[n] != '"') n += rest[n] == '\\' ? 2 : 1;
    if (n >= rest.size()) fail_at(at_, "the string has no closing quote");
    token_ = {TokenKind::string, rest.substr(1, n - 1), at_};
    at_ += n + 1;
    return;
  }
  TokenKind kind = TokenKind::punctuation;
  size_t length = 1;
  if (const size_t n = identifier_length(rest)) {
    kind = TokenKind::identifier;
    length = n;
  } else if (is_digit(rest[0])) {
    kind = TokenKind::number;
    length = number_length(rest);
  } else if (rest.starts_with("=>")) {
    length = 2;
  } else if (rest.starts_with("...")) {
    length = 3;
  }
  token_ = {kind, rest.substr(0, length), at_};
  at_ += length;
}

Token Lexer::peek() const {
  Lexer copy = *this;
  copy.advance();
  return copy.token_;
}

std::string Lexer::unescape(const Token& token) const {
  std::string out;
  const std::string_view text = token.text;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    ++i;
    switch (text[i]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case '"':
      case '\\': out += text[i]; break;
      case 'x': {
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1, low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0) fail_at(token.offset + i, "'\\x' in a string wants two hexadecimal digits");
        out += static_cast<char>(high * 16 + low);
        i += 2;
        break;
      }
      default: fail_at(token.offset + i, "unknown escape in a string, expected one of \\n \\t \\\" \\\\ \\x");
    }
  }
  return out;
}

void Lexer::fail_at(size_t offset, const std::string& message) const {
  const std::string_view before = text_.substr(0, std::min(offset, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n');
  const size_t column = before.size() - (start == before.npos ? 0 : start + 1) + 1;
  fail(ErrorCode::invalid_graph, "text:{}:{}: {}", line, column, message);
}

}  // namespace rh::text
