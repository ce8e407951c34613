#include "stands/cuda/nvrtc/rewrite.h"

#include <cctype>
#include <regex>

namespace rh::stand {
namespace {

// What the macros of device/keywords.h leave in the preprocessed text.
const std::string kSharedSection = "section(\"stand_shared\")";
const std::string kSharedWord = "static __attribute__((section(\"stand_shared\")))";
const std::string kKernelMark = "annotate(\"stand_kernel\")";
const std::string kBoundsMark = "stand_launch_bounds(";

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// Where the bracket that opens at `open` is closed; strings and characters are passed over.
size_t closing(const std::string& text, size_t open) {
  const char opens = text[open], closes = opens == '(' ? ')' : opens == '{' ? '}' : ']';
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_name_char(text[i - 1])))) {
      const char quote = text[i];
      for (++i; i < text.size() && text[i] != quote; ++i)
        if (text[i] == '\\') ++i;
    } else if (text[i] == opens) {
      ++depth;
    } else if (text[i] == closes && --depth == 0) {
      return i;
    }
  }
  return std::string::npos;
}

std::string without_attributes(const std::string& type) {
  static const std::regex attributes(R"(__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|alignas\s*\([^()]*\))");
  return std::regex_replace(type, attributes, " ");
}

// extern __shared__ T name[];  ->  T* name = the dynamic shared memory.
void point_at_dynamic_shared(std::string& text) {
  static const std::regex declaration(R"(extern\s+static __attribute__\(\(section\("stand_shared"\)\)\)([^;\[]*?)(\w+)\s*\[\s*\]\s*;)");
  std::string result;
  auto rest = text.cbegin();
  for (std::smatch found; std::regex_search(rest, text.cend(), found, declaration); rest = found.suffix().first) {
    std::string type = without_attributes(found[1]);
    result.append(rest, found[0].first);
    result += type + "* " + found[2].str() + " = reinterpret_cast<" + type + "*>(stand_state.dynamic_shared);";
  }
  result.append(rest, text.cend());
  text = std::move(result);
}

struct FoundKernel {
  std::string name;  // empty: a template, or a name of C++
  std::string max_threads = "0";
  size_t body = std::string::npos, body_end = std::string::npos;
};

bool in_extern_c_block(const std::string& text, size_t at) {
  static const std::string opening = "extern \"C\"";
  for (size_t i = text.find(opening); i != std::string::npos && i < at; i = text.find(opening, i + 1)) {
    size_t brace = text.find_first_not_of(" \t\n", i + opening.size());
    if (brace == std::string::npos || text[brace] != '{') continue;
    size_t end = closing(text, brace);
    if (brace < at && (end == std::string::npos || at < end)) return true;
  }
  return false;
}

// The kernel of which the mark at `mark` is a part: its head lies between the end of what comes before and its first parenthesis.
FoundKernel kernel_at(const std::string& text, size_t mark) {
  FoundKernel kernel;
  size_t head = text.find_last_of(";}", mark);
  head = head == std::string::npos ? 0 : head + 1;
  std::string before = text.substr(head, mark - head);
  size_t from = text.find("void", mark);
  if (from == std::string::npos) return kernel;
  from += 4;
  std::string bounds_source = before;
  while (from < text.size() && is_space(text[from])) ++from;
  if (text.compare(from, kBoundsMark.size(), kBoundsMark) == 0) {
    size_t end = closing(text, from + kBoundsMark.size() - 1);
    bounds_source += text.substr(from, end + 1 - from);
    from = end + 1;
  }
  if (size_t b = bounds_source.find(kBoundsMark); b != std::string::npos) {
    size_t open = b + kBoundsMark.size() - 1, end = closing(bounds_source, open);
    kernel.max_threads =
        "(" +
        bounds_source.substr(open + 1, bounds_source.find(',', open) < end ? bounds_source.find(',', open) - open - 1 : end - open - 1) +
        ")";
  }
  size_t open = text.find('(', from);
  if (open == std::string::npos) return kernel;
  size_t last = text.find_last_not_of(" \t\n", open - 1), first = last;
  while (first > 0 && is_name_char(text[first - 1])) --first;
  size_t after = closing(text, open);
  after = after == std::string::npos ? after : text.find_first_not_of(" \t\n", after + 1);
  if (after == std::string::npos || text[after] != '{') return kernel;  // a declaration alone
  kernel.body = after;
  kernel.body_end = closing(text, after);
  bool is_template = before.find("template") != std::string::npos;
  if (!is_template && (before.find("extern \"C\"") != std::string::npos || in_extern_c_block(text, mark)))
    kernel.name = text.substr(first, last - first + 1);
  return kernel;
}

void remove_bounds(std::string& text) {
  for (size_t at = 0; (at = text.find(kBoundsMark, at)) != std::string::npos;) {
    size_t end = closing(text, at + kBoundsMark.size() - 1);
    if (end == std::string::npos) return;
    text.replace(at, end + 1 - at, std::string(end + 1 - at, ' '));
  }
}

std::string description(const std::string& symbol, const std::string& kernel, const std::string& max_threads, const std::string& section) {
  std::string text, range = "{nullptr, nullptr}", hidden = " __attribute__((weak, visibility(\"hidden\")));\n";
  if (!section.empty()) {
    text = "extern \"C\" char __start_" + section + "[]" + hidden + "extern \"C\" char __stop_" + section + "[]" + hidden;
    range = "{__start_" + section + ", __stop_" + section + "}";
  }
  std::string name = "stand_kernel_" + symbol;
  return text + "extern \"C\" __attribute__((visibility(\"default\"))) const StandKernel " + name + ";\nconst StandKernel " + name +
         " = StandThunk<(" + kernel + ")>::describe(" + max_threads + ", " + range + ");\n";
}

}  // namespace

std::string lowered_name(const std::string& expression) {
  static const std::regex others("[^A-Za-z0-9]+");
  return "_Z_" + std::regex_replace(expression, others, "_");
}

std::string rewrite(std::string text, const std::vector<NameExpression>& expressions) {
  point_at_dynamic_shared(text);
  std::string descriptions = "\n";
  for (size_t at = 0; (at = text.find(kKernelMark, at)) != std::string::npos; at += kKernelMark.size()) {
    FoundKernel kernel = kernel_at(text, at);
    if (kernel.name.empty() || kernel.body_end == std::string::npos) continue;
    std::string body = text.substr(kernel.body, kernel.body_end - kernel.body), section;
    for (size_t i = 0; (i = body.find(kSharedSection, i)) != std::string::npos; i += kSharedSection.size()) {
      section = "stand_shared_" + kernel.name;
      body.replace(i, kSharedSection.size(), "section(\"" + section + "\")");
    }
    text.replace(kernel.body, kernel.body_end - kernel.body, body);
    descriptions += description(kernel.name, kernel.name, kernel.max_threads, section);
  }
  remove_bounds(text);
  for (const auto& [expression, lowered] : expressions)
    descriptions += description(lowered, expression[0] == '&' ? expression.substr(1) : expression, "0", "");
  return text + descriptions;
}

}  // namespace rh::stand
