#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "graph/attribute.h"
#include "tensor/dispatch.h"

namespace rh::test {

inline constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// One input of an operator case. Its element type is the type under test unless `as` fixed it.
struct Input {
  Shape shape;
  enum class Fill : uint8_t { normal, uniform, values, strings, absent } fill = Fill::normal;
  double low = 0, high = 1;
  std::vector<double> values;
  std::vector<std::string> strings;
  std::vector<int64_t> integers = {};  ///< in place of values, where they may not fit a double
  DType dtype = DType::undefined;
  bool is_constant = false;

  /// The same with a fixed element type: indices, axes, conditions.
  Input as(DType type) const;
  /// The same as an initializer: what is known when the model is loaded.
  Input constant() const;
};

Input normal(Shape shape);                            ///< standard normal, rounded to the type
Input uniform(Shape shape, double low, double high);  ///< [low, high); whole numbers for integer types
Input values(Shape shape, std::vector<double> values);
Input strings(Shape shape, std::vector<std::string> values);
Input ints(std::vector<int64_t> values);  ///< a 1-D int64 tensor
Input absent();

/// An attribute of an operator case: attr("axis", 1), attr("axes", {0, 1}), attr("mode", "edge"), attr("alpha", 0.5f).
Attribute attr(std::string name, int value);
Attribute attr(std::string name, float value);
Attribute attr(std::string name, const char* value);
Attribute attr(std::string name, std::vector<int64_t> value);
inline Attribute attr(std::string name, std::initializer_list<int> value) {
  return attr(std::move(name), std::vector<int64_t>(value.begin(), value.end()));
}
Attribute attr(std::string name, std::vector<float> value);
Attribute attr(std::string name, std::vector<std::string> value);
Attribute attr(std::string name, Tensor value);

/// One row of an operator's test table.
struct OpCase {
  int opset;
  std::vector<Attribute> attributes;
  std::vector<Input> inputs;
  const char* purpose;
  /// Parts that the error message must have; empty where the case must run.
  std::vector<std::string> fails = {};
  int outputs = 1;
  /// Error allowed relative to the largest expected magnitude, 0: that of the element type. From 1 on: steps of 8-bit integers.
  double tolerance = 0;
  const char* domain = "";
  const char* op_type = nullptr;     ///< where a table serves several operators
  std::vector<Input> expected = {};  ///< outputs (of the type under test), where nothing else tells them
  bool stock_is_wrong = false;       ///< the stock library contradicts the standard: only the other comparisons are made
  std::vector<int> left_out = {};    ///< outputs that the node leaves out
};

/// A row for an operator of com.microsoft.
OpCase contributed(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {},
                   int outputs = 1, double tolerance = 0);

/// Runs each case with each type that the standard allows there: our kernel alone and on two threads, against the stock library (where
/// RH_STOCK_ORT names it and it has the kernel) and, for narrow floats, against our kernel in float64 or float; inferred types and shapes,
/// static and symbolic, are checked against what came out.
void run_op_cases(const char* op_type, const std::vector<OpCase>& cases, DTypeSet types);

}  // namespace rh::test

#define RH_OP_TEST(OpType, cases, types) \
  TEST(OpCases, OpType) { ::rh::test::run_op_cases(#OpType, cases, types); }
