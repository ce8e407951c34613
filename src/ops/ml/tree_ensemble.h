#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/inference.h"
#include "ops/ml/post_transform.h"

namespace rh::ops {

/// TreeEnsembleClassifier, TreeEnsembleRegressor: ai.onnx.ml 1, 3, 5; TreeEnsemble: ai.onnx.ml 5. The three ways of writing trees, as one.
struct TreeEnsemble {
  enum class Mode : uint8_t { leq, lt, gte, gt, eq, neq, member };
  enum class Aggregate : uint8_t { average, sum, min, max };

  /// A branch takes `when_true` where feature `mode` split holds. Children >= 0 are nodes, others leaves: ~child.
  struct Node {
    double split = 0;
    int64_t feature = 0;
    int32_t when_true = 0, when_false = 0;
    Mode mode = Mode::leq;
    bool missing_is_true = false;  ///< where a NaN goes
    int32_t members = -1;          ///< of Mode::member: which of `member_sets`
  };
  struct Weight {
    int32_t target = 0;
    double value = 0;
  };
  struct Leaf {
    int32_t first = 0, count = 0;  ///< in `weights`
  };

  std::vector<Node> nodes;
  std::vector<Leaf> leaves;
  std::vector<Weight> weights;
  std::vector<int32_t> roots;  ///< one a tree, as children are written
  std::vector<std::vector<double>> member_sets;
  int64_t targets = 1;     ///< or classes
  int64_t features = 0;    ///< the least number of columns that the input must have
  bool is_double = false;  ///< splits are given as double
  std::vector<double> base_values;
  Aggregate aggregate = Aggregate::sum;
  PostTransform post_transform = PostTransform::none;

  bool classifies = false;
  std::vector<int64_t> int_labels;
  std::vector<std::string> string_labels;
  int64_t weighted_class = -1;  ///< of two classes: the one that all weights belong to, -1 if both have some
  bool weights_positive = false;

  static TreeEnsemble read(const NodeView& node);
};

void infer(const TreeEnsemble& op, InferenceContext& context);

}  // namespace rh::ops
