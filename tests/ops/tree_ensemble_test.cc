#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

const float kNan = std::numeric_limits<float>::quiet_NaN();

/// Two trees: one with a root and two leaves, one with two branches and three leaves. `prefix` is "target" or "class".
std::vector<Attribute> two_trees(const std::string& prefix, Ints ids, Floats weights, std::vector<Attribute> more,
                                 Strings modes = {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"}) {
  std::vector<Attribute> attributes = {
      attr("nodes_treeids", Ints{0, 0, 0, 1, 1, 1, 1, 1}),
      attr("nodes_nodeids", Ints{0, 1, 2, 0, 1, 2, 3, 4}),
      attr("nodes_featureids", Ints{0, 0, 0, 2, 0, 1, 0, 0}),
      attr("nodes_values", Floats{0.25f, 0, 0, -0.5f, 0, 0.5f, 0, 0}),
      attr("nodes_truenodeids", Ints{1, 0, 0, 1, 0, 3, 0, 0}),
      attr("nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 4, 0, 0}),
      attr("nodes_modes", std::move(modes)),
      attr(prefix + "_treeids", Ints{0, 0, 1, 1, 1}),
      attr(prefix + "_nodeids", Ints{1, 2, 1, 3, 4}),
      attr(prefix + "_ids", std::move(ids)),
      attr(prefix + "_weights", std::move(weights)),
  };
  attributes.insert(attributes.end(), more.begin(), more.end());
  return attributes;
}

OpCase regressor(std::vector<Attribute> attributes, const char* purpose, std::vector<std::string> fails = {}) {
  return {3, std::move(attributes), {normal({70, 3})}, purpose, std::move(fails), 1, 1e-5, "ai.onnx.ml"};
}

/// x[0] <= 0.25 ? leaf 1 : leaf 2, with several weights at each leaf for the only target: what decision paths are made of.
std::vector<Attribute> repeated_weights() {
  return {
      attr("nodes_treeids", Ints{0, 0, 0}),
      attr("nodes_nodeids", Ints{0, 1, 2}),
      attr("nodes_featureids", Ints{0, 0, 0}),
      attr("nodes_values", Floats{0.25f, 0, 0}),
      attr("nodes_truenodeids", Ints{1, 0, 0}),
      attr("nodes_falsenodeids", Ints{2, 0, 0}),
      attr("nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "LEAF"}),
      attr("target_treeids", Ints{0, 0, 0, 0, 0}),
      attr("target_nodeids", Ints{1, 1, 1, 2, 2}),
      attr("target_ids", Ints{0, 0, 0, 0, 0}),
      attr("target_weights", Floats{1, 1, 1, 2, 5}),
  };
}

const std::vector<OpCase> kRegressor = {
    regressor(repeated_weights(), "the first of a leaf's weights for the only target"),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {}), "a sum over trees"),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {attr("base_values", Floats{10})}), "a base value"),
    regressor(two_trees("target", {0, 1, 1, 0, 1}, {1, 2, -3, 0.5f, 7}, {attr("n_targets", 2)}), "two targets"),
    regressor(two_trees("target", {0, 1, 1, 0, 1}, {1, 2, -3, 0.5f, 7}, {attr("n_targets", 2), attr("aggregate_function", "AVERAGE")}),
              "average"),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {attr("aggregate_function", "MIN")}), "least"),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {attr("aggregate_function", "MAX")}), "largest"),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {},
                        {"BRANCH_LT", "LEAF", "LEAF", "BRANCH_GTE", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}),
              "other comparisons"),
    {3,
     two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {},
               {"BRANCH_EQ", "LEAF", "LEAF", "BRANCH_NEQ", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"}),
     {values({4, 3}, {0.25, 0, -0.5, 0, 0.5, -0.5, 0.25, 0.5, 1, 7, 7, 7})},
     "equality",
     {},
     1,
     1e-5,
     "ai.onnx.ml"},
    {3,
     two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {attr("nodes_missing_value_tracks_true", Ints{1, 0, 0, 0, 0, 1, 0, 0})}),
     {values({3, 3}, {kNan, 0, -1, kNan, kNan, kNan, 1, kNan, 1}).as(DType::float32)},
     "missing values",
     {},
     1,
     1e-5,
     "ai.onnx.ml"},
    {3,
     two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {}),
     {normal({1, 2})},
     "too few features",
     {"2 features", "3"},
     1,
     0,
     "ai.onnx.ml"},
    regressor(two_trees("target", {0, 0, 3, 0, 0}, {1, 2, -3, 0.5f, 7}, {}), "a target too many", {"target_ids", "3"}),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f, 7}, {},
                        {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF"}),
              "a child of itself", {"tree"}),
    regressor(two_trees("target", {0, 0, 0, 0, 0}, {1, 2, -3, 0.5f}, {}), "lists of different lengths", {"target_treeids", "5", "4"}),
};
RH_OP_TEST(TreeEnsembleRegressor, kRegressor, (Types<float, double, int64_t, int32_t>::set))

OpCase classifier(std::vector<Attribute> attributes, const char* purpose, std::vector<std::string> fails = {}) {
  return {3, std::move(attributes), {normal({70, 3})}, purpose, std::move(fails), 2, 1e-5, "ai.onnx.ml"};
}

const Attribute kTwo = attr("classlabels_int64s", Ints{5, 9});
const Attribute kThree = attr("classlabels_strings", Strings{"red", "green", "blue"});

const std::vector<OpCase> kClassifier = {
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, 3, 0.5f, 0.7f}, {kThree}), "three classes"),
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, -3, 0.5f, 0.7f}, {kThree, attr("post_transform", "SOFTMAX")}), "softmax"),
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, -3, 0.5f, 0.7f}, {kThree, attr("post_transform", "LOGISTIC")}), "logistic"),
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, -3, 0.5f, 0.7f}, {kThree, attr("post_transform", "SOFTMAX_ZERO")}), "zeros stay"),
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, -3, 0.5f, 0.7f}, {kThree, attr("base_values", Floats{0.5f, -0.5f, 3})}),
               "base values"),
    classifier(two_trees("class", {1, 1, 1, 1, 1}, {0.1f, 0.3f, 0.6f, 0.5f, 0.25f}, {kTwo}), "one class weighted, positive"),
    classifier(two_trees("class", {0, 0, 0, 0, 0}, {0.1f, 0.3f, 0.6f, 0.5f, 0.25f}, {kTwo}), "the first class weighted, positive"),
    classifier(two_trees("class", {1, 1, 1, 1, 1}, {0.1f, -0.3f, 0.6f, -0.5f, 0.2f}, {kTwo}), "one class weighted, of both signs"),
    classifier(two_trees("class", {1, 1, 1, 1, 1}, {0.1f, -0.3f, 0.6f, -0.5f, 0.2f}, {kTwo, attr("post_transform", "LOGISTIC")}),
               "one class weighted, logistic"),
    classifier(two_trees("class", {0, 0, 0, 0, 0}, {0.1f, -0.3f, 0.6f, -0.5f, 0.2f},
                         {kTwo, attr("post_transform", "LOGISTIC"), attr("base_values", Floats{0.3f})}),
               "one class weighted, a base value"),
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, 3, 0.5f, 0.7f}, {}), "no labels", {"classlabels_int64s"}),
    classifier(two_trees("class", {0, 1, 2, 0, 1}, {1, 2, 3, 0.5f, 0.7f}, {kThree, attr("post_transform", "TANH")}), "unknown transform",
               {"post_transform", "TANH", "LOGISTIC"}),
};
RH_OP_TEST(TreeEnsembleClassifier, kClassifier, (Types<float, double, int64_t, int32_t>::set))

Tensor tensor(DType dtype, std::vector<double> numbers) {
  Tensor made(dtype, Shape{static_cast<int64_t>(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (dtype == DType::uint8) made.mutable_view().data<uint8_t>()[i] = static_cast<uint8_t>(numbers[i]);
    if (dtype == DType::float32) made.mutable_view().data<float>()[i] = static_cast<float>(numbers[i]);
    if (dtype == DType::float64) made.mutable_view().data<double>()[i] = numbers[i];
  }
  return made;
}

/// x[0] <= 1.5 ? (x[1] in {1, 2} ? leaf 0 : leaf 1) : leaf 2.
OpCase indexed(DType dtype, Ints when_true, const char* purpose, std::vector<std::string> fails = {}) {
  return {5,
          {attr("tree_roots", Ints{0}), attr("n_targets", 2), attr("nodes_featureids", Ints{0, 1}),
           attr("nodes_modes", tensor(DType::uint8, {0, 6})), attr("nodes_splits", tensor(dtype, {1.5, 0})),
           attr("nodes_truenodeids", std::move(when_true)), attr("nodes_trueleafs", Ints{0, 1}), attr("nodes_falsenodeids", Ints{2, 1}),
           attr("nodes_falseleafs", Ints{1, 1}), attr("leaf_targetids", Ints{0, 1, 1}), attr("leaf_weights", tensor(dtype, {1, 10, 100})),
           attr("membership_values", tensor(dtype, {1, 2, kNan}))},
          {values({4, 2}, {0, 1, 0, 3, 2, 1, 1.5, 2}).as(dtype)},
          purpose,
          std::move(fails),
          1,
          1e-6,
          "ai.onnx.ml"};
}

const std::vector<OpCase> kEnsemble = {
    indexed(DType::float32, {1, 0}, "indexed nodes, a set"),
    indexed(DType::float64, {1, 0}, "in double"),
    indexed(DType::float32, {0, 0}, "a node under itself", {"cycle"}),
    indexed(DType::float32, {7, 0}, "no such node", {"7", "[0, 1]"}),
};
RH_OP_TEST(TreeEnsemble, kEnsemble, (Types<float>::set))

}  // namespace
}  // namespace rh::test
