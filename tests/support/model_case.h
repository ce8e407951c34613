#pragma once

#include <string>
#include <vector>

#include "tensor/value.h"

namespace rh::test {

/// A small model as a test.
struct ModelCase {
  const char* purpose;
  const char* text;           ///< the model, in the form of docs/graph_text.md
  std::vector<Value> inputs;  ///< in the order of the graph's
  /// Parts that the error message must have; empty where the model must run.
  std::vector<std::string> fails = {};
  std::vector<Value> expected = {};  ///< the outputs, where the stock library is wrong; it is not asked then
};

/// Runs each model twice in one session, with one thread and with two, and compares with the stock library where RH_STOCK_ORT names it;
/// inferred types of the outputs are checked against what came out. Results must be equal to the bit.
void run_model_cases(const std::vector<ModelCase>& cases);

Tensor floats(Shape shape, std::vector<float> values);
Tensor integers(Shape shape, std::vector<int64_t> values);
Tensor boolean(bool value);  ///< a scalar
Tensor texts(Shape shape, std::vector<std::string> values);

}  // namespace rh::test
