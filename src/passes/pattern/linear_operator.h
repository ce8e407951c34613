#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/edit.h"
#include "ops/node_view.h"

namespace rh::passes {

/// Conv, ConvTranspose, MatMul by a matrix or Gemm with constant weights of floats.
struct LinearOperator {
  const Node* node = nullptr;
  const Tensor* weights = nullptr;  ///< [rows, columns, kernel positions...]
  const Tensor* bias = nullptr;     ///< one number for each output channel, or one for all; null where there is none
  bool rows_are_outputs = true;     ///< columns are then the inputs of a group; false: the other way round
  int64_t group = 1;
  int64_t inputs = 0, outputs = 0;  ///< channels
  double alpha = 1, beta = 1;       ///< factors of product and bias
  bool transposes_input = false;    ///< of Gemm

  /// Whether channels are the last axis of input and output; those of convolutions are the second.
  bool is_product() const { return weights->shape().rank() == 2; }
  bool takes_bias() const { return node->op_type != "MatMul"; }
};

/// The node as one; nothing where it is none, or where its weights or bias come with a run.
std::optional<LinearOperator> linear_operator(const Graph& graph, const Node& node);

/// The weights times a factor for each output and each input channel; no factors are factors of 1. Nothing where a result is not finite.
std::optional<Tensor> scaled_weights(const LinearOperator& op, std::span<const double> output_factors,
                                     std::span<const double> input_factors);
/// What is added to each output channel where this is added to each input channel, at every position that the kernel covers.
std::vector<double> propagated(const LinearOperator& op, std::span<const double> input_shift);
/// beta times the bias, a number for each output channel.
std::vector<double> bias_values(const LinearOperator& op);

/// Whether the weights may be replaced: those of a product that something else takes too, such as a table of embeddings, are not copied.
bool owns_weights(const Graph& graph, const LinearOperator& op);

/// What takes the place of an operator.
struct ScaledOperator {
  ValueId input = kNoValue;
  std::optional<Tensor> weights, bias;  ///< those that are not given stay
  std::string bias_name;                ///< where there was none
  std::string sum_name;                 ///< of the Add behind an operator that takes no bias
  std::vector<NodeId> nodes;            ///< for which it stands
};

/// Adds it to the edit, and gives its result, a new value.
ValueId add_scaled(const Graph& graph, Edit& edit, const LinearOperator& op, ScaledOperator scaled);

}  // namespace rh::passes
