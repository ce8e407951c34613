#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass_lists.h"

namespace rh::test {

/// One case of tests/passes/<room>/<pass>.txt:
///   === what it is for
///   <graph before>
///   ---
///   <graph after>, or the word `unchanged`
/// Names of further passes to run may follow in parentheses: "=== chain (eliminate_dead_nodes)".
struct PassCase {
  std::string pass, title, before, after;
  std::vector<std::string> passes;
  friend void PrintTo(const PassCase& c, std::ostream* out) { *out << c.pass << ": " << c.title; }
};

struct PassFile {
  std::string_view room, pass;
};

/// One a row of pass_list.inc; passes of several lists come several times.
inline constexpr PassFile kRows[] = {
#define RH_PASS(room, name, level, provider, condition) {#room, #name},
#include "passes/pass_list.inc"
#undef RH_PASS
};

inline std::vector<PassFile> pass_files() {
  std::vector<PassFile> files;
  for (const PassFile& row : kRows) {
    if (std::ranges::find(files, row.pass, &PassFile::pass) == files.end()) files.push_back(row);
  }
  return files;
}

inline void read_title(PassCase& c) {
  const size_t open = c.title.rfind('(');
  if (open == std::string::npos || !c.title.ends_with(')')) return;
  std::istringstream names(c.title.substr(open + 1, c.title.size() - open - 2));
  for (std::string name; names >> name;) c.passes.push_back(name);
}

inline std::vector<PassCase> read_cases() {
  std::vector<PassCase> cases;
  for (const auto& [room, name] : pass_files()) {
    const std::string pass(name);
    std::ifstream file(fmt::format("{}/../passes/{}/{}.txt", RH_TEST_DATA, room, pass));
    EXPECT_TRUE(file.good()) << pass;
    std::string line;
    std::string* part = nullptr;
    while (std::getline(file, line)) {
      if (line.starts_with("=== ")) {
        cases.push_back({pass, line.substr(4), {}, {}, {pass}});
        read_title(cases.back());
        part = &cases.back().before;
      } else if (line == "---") {
        part = &cases.back().after;
      } else if (part) {
        *part += line + "\n";
      }
    }
  }
  return cases;
}

/// Knows what the cases need: Neg and Add of as many floats or a number, Expand of a scalar, DequantizeLinear of bytes by one scale and
/// QuantizeLinear to int8.
class SmallEvaluator final : public ConstantEvaluator {
 public:
  std::vector<Value> evaluate(const Graph& graph, const Node& node, std::span<const Value> inputs, size_t) override {
    ++calls;
    if (node.op_type == "Abs") throw Error(ErrorCode::invalid_argument, "the kernel refuses");
    if (node.op_type == "Expand") {
      const Tensor& shape = inputs[1].tensor();
      Tensor y(DType::float32, Shape(shape.span<int64_t>()));
      std::fill_n(y.data<float>(), y.elements(), *inputs[0].tensor().data<float>());
      return {Value(std::move(y))};
    }
    if (node.op_type == "DequantizeLinear") {
      const Tensor &bytes = inputs[0].tensor(), &scale = inputs[1].tensor();
      Tensor y(DType::float32, bytes.shape());
      for (int64_t i = 0; i < y.elements(); ++i) y.data<float>()[i] = *scale.data<float>() * bytes.data<int8_t>()[i];
      return {Value(std::move(y))};
    }
    if (node.op_type == "QuantizeLinear") {
      const Tensor &floats = inputs[0].tensor(), &scale = inputs[1].tensor();
      Tensor y(DType::int8, floats.shape());
      for (int64_t i = 0; i < y.elements(); ++i) {
        y.data<int8_t>()[i] =
            static_cast<int8_t>(std::clamp(std::nearbyint(floats.data<float>()[i] / *scale.data<float>()), -128.0f, 127.0f));
      }
      return {Value(std::move(y))};
    }
    if (node.op_type == "Cast" && inputs[0].tensor().dtype() == DType::int8) {
      Tensor y(DType::float32, inputs[0].tensor().shape());
      std::copy_n(inputs[0].tensor().data<int8_t>(), y.elements(), y.data<float>());
      return {Value(std::move(y))};
    }
    if (node.op_type != "Neg" && node.op_type != "Add") return {};
    const Tensor& x = inputs[0].tensor();
    Tensor y(x.dtype(), x.shape());
    for (int64_t i = 0; i < x.elements(); ++i) {
      y.data<float>()[i] = node.op_type == "Neg" ? -x.data<float>()[i]
                                                 : x.data<float>()[i] + inputs[1].tensor().data<float>()[i % inputs[1].tensor().elements()];
    }
    return {Value(std::move(y))};
  }

  int calls = 0;
};

/// Each once, under any settings.
inline std::vector<Pass> all_passes() {
  std::vector<Pass> passes(standard_passes().begin(), standard_passes().end());
  passes.insert(passes.end(), vendor_passes().begin(), vendor_passes().end());
  for (const Pass& pass : cpu_passes()) {
    if (!find_pass(standard_passes(), pass.name)) passes.push_back(pass);
  }
  for (Pass& pass : passes) pass.may_run = nullptr;
  return passes;
}

inline std::vector<Pass> select(const std::vector<std::string>& names) {
  std::vector<Pass> passes;
  for (const Pass& pass : all_passes()) {
    if (std::find(names.begin(), names.end(), pass.name) != names.end()) passes.push_back(pass);
  }
  return passes;
}

}  // namespace rh::test
