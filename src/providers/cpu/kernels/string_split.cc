#include "ops/text/string_split.h"

#include <algorithm>

#include "base/unicode.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

using Parts = std::vector<std::string_view>;

/// Bytes of the characters at the front that are white space, or are not.
size_t run_length(std::string_view text, bool of_space) {
  size_t length = 0;
  while (length < text.size()) {
    const auto byte = static_cast<uint8_t>(text[length]);
    if (byte > 0x20 && byte < 0x80) {  // no white space of ASCII
      if (of_space) break;
      ++length;
      continue;
    }
    uint32_t character = 0;
    const size_t bytes = first_character(text.substr(length), character);
    if ((bytes > 0 && is_white_space(character)) != of_space) break;
    length += std::max<size_t>(1, bytes);
  }
  return length;
}

/// Appends the parts of a text.
void split_at_space(std::string_view text, int64_t max_splits, Parts& parts) {
  const size_t before = parts.size();
  for (text.remove_prefix(run_length(text, true)); !text.empty(); text.remove_prefix(run_length(text, true))) {
    if (static_cast<int64_t>(parts.size() - before) == max_splits) {
      size_t end = 0;  // the rest, without the space at its end
      for (size_t at = 0; at < text.size();) {
        at += run_length(text.substr(at), false);
        end = at;
        at += run_length(text.substr(at), true);
      }
      parts.push_back(text.substr(0, end));
      break;
    }
    const size_t length = run_length(text, false);
    parts.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

void split_at(std::string_view text, std::string_view delimiter, int64_t max_splits, Parts& parts) {
  if (text.empty()) return;
  const size_t before = parts.size();
  for (size_t at = 0; static_cast<int64_t>(parts.size() - before) < max_splits && (at = text.find(delimiter)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.push_back(text);
}

}  // namespace

class StringSplitKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string>;

  explicit StringSplitKernel(const KernelInfo& info) : op_(info.attributes<ops::StringSplit>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    int64_t* counts = context.output(1, DType::int64, x.shape()).data<int64_t>();
    Parts parts;  // of all texts, one after the other
    int64_t most = 0;
    for (int64_t i = 0; i < x.elements(); ++i) {
      const std::string_view text = x.data<std::string>()[i];
      const size_t before = parts.size();
      if (op_.delimiter.empty()) {
        split_at_space(text, op_.max_splits, parts);
      } else {
        split_at(text, op_.delimiter, op_.max_splits, parts);
      }
      counts[i] = static_cast<int64_t>(parts.size() - before);
      most = std::max(most, counts[i]);
    }
    Shape shape = x.shape();
    shape.push_back(most);
    check_elements(shape, "StringSplit: the parts");
    std::string* out = context.output(0, DType::string, shape).data<std::string>();
    const std::string_view* next = parts.data();
    for (int64_t i = 0; i < x.elements(); ++i) {
      out = std::copy_n(next, counts[i], out);
      next += counts[i];
      out = std::fill_n(out, most - counts[i], std::string());
    }
    return {};
  }

 private:
  ops::StringSplit op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(StringSplitKernel)
