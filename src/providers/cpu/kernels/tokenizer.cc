#include "ops/text/tokenizer.h"

#include <algorithm>
#include <optional>

#include "base/regex.h"
#include "base/unicode.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

using Tokens = std::vector<std::string_view>;

/// A regular expression, or text that stands for itself, which is found sooner.
class Expression {
 public:
  explicit Expression(const std::string& pattern) : regex_(pattern, Regex::Prefer::longest) {
    if (pattern.find_first_of("\\^$.[]|()?*+{}") == std::string::npos) text_ = pattern;
  }

  Regex::Match find(std::string_view text, size_t from) const {
    if (text_.empty()) return regex_.find(text, from);
    const size_t begin = text.find(text_, from);
    return begin == std::string_view::npos ? Regex::Match{} : Regex::Match{begin, begin + text_.size(), true};
  }

 private:
  Regex regex_;
  std::string text_;
};

/// Of a character of valid UTF-8, by its first byte.
size_t bytes_of_character(unsigned char first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

size_t character_bytes(std::string_view text) {
  uint32_t character = 0;
  return std::max<size_t>(1, first_character(text, character));
}

}  // namespace

class TokenizerKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string>;

  explicit TokenizerKernel(const KernelInfo& info) : op_(info.attributes<ops::Tokenizer>()) {
    if (op_.mode == ops::Tokenizer::Mode::characters) return;
    for (const std::string& pattern : op_.patterns) expressions_.emplace_back(pattern);
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() != 1 && x.rank() != 2) {
      return error_status(ErrorCode::invalid_argument, "Tokenizer: the input has shape {}, expected [C] or [N, C]", x.shape().to_string());
    }
    if (op_.mode == ops::Tokenizer::Mode::characters) return run_characters(context, x);
    std::vector<Tokens> all;
    size_t most = 0;
    for (int64_t i = 0; i < x.elements(); ++i) {
      const std::string_view text = x.data<std::string>()[i];
      if (!count_characters(text)) {
        return error_status(ErrorCode::invalid_argument, "Tokenizer: string {} of the input is not UTF-8", i);
      }
      all.push_back(tokens_of(text));
      most = std::max(most, all.back().size());
    }
    if (op_.mark && most > 0) most += 2;
    Shape shape = x.shape();
    shape.push_back(static_cast<int64_t>(most));
    check_elements(shape, "Tokenizer: the tokens");
    write(all, most, context.output(0, DType::string, shape).data<std::string>());
    return {};
  }

 private:
  /// Characters are written straight away: the longest text tells how many columns there are.
  Status run_characters(RunContext& context, const TensorView& x) const {
    const std::string* const texts = x.data<std::string>();
    size_t most = 0;
    for (int64_t i = 0; i < x.elements(); ++i) {
      const std::optional<size_t> count = count_characters(texts[i]);
      if (!count) return error_status(ErrorCode::invalid_argument, "Tokenizer: string {} of the input is not UTF-8", i);
      most = std::max(most, *count);
    }
    const size_t marks = op_.mark && most > 0 ? 2 : 0, columns = most + marks;
    Shape shape = x.shape();
    shape.push_back(static_cast<int64_t>(columns));
    check_elements(shape, "Tokenizer: the tokens");
    std::string* const out = context.output(0, DType::string, shape).data<std::string>();
    const Cost cost{.bytes = static_cast<double>(columns * sizeof(std::string)), .operations = 4.0 * static_cast<double>(columns)};
    context.parallel().for_range(columns == 0 ? 0 : x.elements(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        std::string* to = out + i * static_cast<int64_t>(columns);
        std::string* const end = to + columns;
        if (marks) *to++ = "\x02";
        const std::string& text = texts[i];
        for (size_t at = 0, bytes; at < text.size(); at += bytes) {
          bytes = bytes_of_character(static_cast<unsigned char>(text[at]));
          (to++)->assign(text, at, bytes);
        }
        if (marks) *to++ = "\x03";
        for (; to < end; ++to) {
          if (op_.pad_value.empty()) {
            to->clear();
          } else {
            *to = op_.pad_value;
          }
        }
      }
    });
    return {};
  }

  void write(const std::vector<Tokens>& all, size_t columns, std::string* out) const {
    for (const Tokens& tokens : all) {
      std::string* const end = out + columns;
      if (columns == 0) continue;
      if (op_.mark) *out++ = "\x02";
      out = std::copy(tokens.begin(), tokens.end(), out);
      if (op_.mark) *out++ = "\x03";
      std::fill(out, end, op_.pad_value);
      out = end;
    }
  }

  Tokens tokens_of(std::string_view text) const { return op_.mode == ops::Tokenizer::Mode::tokens ? matches(text) : pieces(text); }

  bool long_enough(std::string_view token) const {
    return count_characters(token).value_or(0) >= static_cast<size_t>(op_.least_characters);
  }

  Tokens matches(std::string_view text) const {
    Tokens found;
    for (size_t at = 0; at < text.size();) {
      const Regex::Match match = expressions_[0].find(text, at);
      if (!match.found) break;
      const std::string_view token = text.substr(match.begin, match.end - match.begin);
      at = match.end;
      if (long_enough(token)) {
        found.push_back(token);
      } else if (token.empty() && at < text.size()) {
        at += character_bytes(text.substr(at));
      } else if (token.empty()) {
        break;
      }
    }
    return found;
  }

  /// A separator that matches nothing takes the character after it along.
  Tokens pieces(std::string_view text) const {
    Tokens whole = {text};
    for (const Expression& separator : expressions_) {
      Tokens parts;
      for (std::string_view piece : whole) {
        size_t begin = 0;
        for (Regex::Match match; begin < piece.size() && (match = separator.find(piece, begin)).found;) {
          if (std::string_view part = piece.substr(begin, match.begin - begin); long_enough(part)) parts.push_back(part);
          begin = match.end;
          if (match.begin == match.end && begin < piece.size()) begin += character_bytes(piece.substr(begin));
        }
        if (std::string_view part = piece.substr(begin); long_enough(part)) parts.push_back(part);
      }
      whole = std::move(parts);
    }
    return whole;
  }

  ops::Tokenizer op_;
  std::vector<Expression> expressions_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TokenizerKernel)
