#include "ops/math/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Without spaces, and with '.' for "...".
std::string squeezed(const NodeView& node, const std::string& term) {
  std::string result;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term.compare(i, 3, "...") == 0 && result.find('.') == std::string::npos) {
      result += '.';
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      result += term[i];
    } else {
      node.fail("equation has the term '{}', expected letters and at most one '...'", term);
    }
  }
  return result;
}

/// The letters that come once, sorted, after the dimensions of "...".
std::string implicit_output(const std::vector<std::string>& terms) {
  std::map<char, int> counts;
  for (const std::string& term : terms) {
    for (char c : term) ++counts[c];
  }
  std::string output = counts.contains('.') ? "." : "";
  for (const auto& [letter, count] : counts) {
    if (letter != '.' && count == 1) output += letter;
  }
  return output;
}

}  // namespace

Einsum Einsum::read(const NodeView& node) {
  Einsum op{.equation = node.required_string("equation")};
  const size_t arrow = op.equation.find("->");
  for (const std::string& term : split(op.equation.substr(0, arrow), ',')) op.terms.push_back(squeezed(node, term));
  if (static_cast<int>(op.terms.size()) != node.input_count()) {
    node.fail("equation '{}' has {} terms, expected {} as there are inputs", op.equation, op.terms.size(), node.input_count());
  }
  if (arrow == std::string::npos) {
    op.output = implicit_output(op.terms);
    return op;
  }
  op.output = squeezed(node, op.equation.substr(arrow + 2));
  for (char c : op.output) {
    const bool is_known =
        std::any_of(op.terms.begin(), op.terms.end(), [&](const std::string& term) { return term.find(c) != std::string::npos; });
    if ((!is_known && c != '.') || std::count(op.output.begin(), op.output.end(), c) > 1) {
      node.fail("equation '{}' has '{}' in its output, expected letters of the inputs, each once", op.equation, c);
    }
  }
  return op;
}

Einsum::Labels Einsum::labels(std::span<const int> ranks) const {
  Labels labels;
  int broadcast = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool has_ellipsis = terms[i].find('.') != std::string::npos;
    const int letters = static_cast<int>(terms[i].size()) - has_ellipsis;
    if (ranks[i] < letters || (!has_ellipsis && ranks[i] != letters)) {
      fail(ErrorCode::fail, "input {} has rank {}, expected {}{} for the term {} of '{}'", i, ranks[i], has_ellipsis ? "at least " : "",
           letters, i, equation);
    }
    std::vector<Label>& input = labels.inputs.emplace_back();
    for (char c : terms[i]) {
      if (c != '.') input.push_back(c);
      for (int k = ranks[i] - letters - 1; c == '.' && k >= 0; --k) input.push_back(kEllipsis - k);
    }
    broadcast = std::max(broadcast, ranks[i] - letters);
  }
  for (char c : output) {
    if (c != '.') labels.output.push_back(c);
    for (int k = broadcast - 1; c == '.' && k >= 0; --k) labels.output.push_back(kEllipsis - k);
  }
  return labels;
}

void infer(const Einsum& op, InferenceContext& context) {
  std::vector<int> ranks;
  context.set_output(0, context.input_dtype(0));
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.input_tensor(i).has_rank()) return;
    ranks.push_back(context.input_tensor(i).rank());
  }
  const Einsum::Labels labels = op.labels(ranks);
  std::map<Einsum::Label, Dim> sizes;
  for (int i = 0; i < context.input_count(); ++i) {
    const SymbolicShape& dims = *context.input_tensor(i).dims;
    for (size_t k = 0; k < dims.size(); ++k) {
      const auto [at, is_new] = sizes.emplace(labels.inputs[static_cast<size_t>(i)][k], dims[k]);
      if (!is_new) at->second = context.broadcast({at->second}, {dims[k]})[0];
    }
  }
  SymbolicShape dims;
  for (Einsum::Label label : labels.output) dims.push_back(sizes.at(label));
  context.set_output(0, context.input_dtype(0), std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Einsum)
