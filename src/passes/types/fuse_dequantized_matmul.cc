// Pattern: MatMul or Gemm of float32 by a constant matrix that DequantizeLinear makes of 4 or 8 bits, perhaps with a constant row added.
// Replacement: MatMulNBits, which reads the codes where they lie and may round the left operand to 8 bits.
// Not: products of quantised values; fewer than 4096 weights; blocks below 16 or no power of two; a Gemm that scales or transposes the left
//   operand.

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "base/thread_pool.h"
#include "ops/math/gemm.h"
#include "ops/quant/dequantize_linear.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kLeastBlock = 16;
constexpr int64_t kBlockOfColumns =
    32;                        // of weights with one scale a column: rows of the left operand are rounded by it, as in ONNX Runtime
constexpr int64_t kTile = 64;  // rows and columns of codes that are turned at a time
constexpr int64_t kLeastWeights = 4096;  // fewer are as fast as floats

/// A constant matrix of 4 or 8 bits as DequantizeLinear takes it. Its rows are those of the product's left operand, K, or its columns, N.
struct Weights {
  const Node* node = nullptr;
  const Tensor *codes = nullptr, *scales = nullptr, *zeros = nullptr;  ///< zeros: null where it has none
  bool rows_are_columns = false;                                       ///< [N, K]
  int64_t k = 0, n = 0;
  int bits = 8;
  int64_t block = 0;  ///< elements along K that share a scale; 0: one a column, or one for all
  bool is_signed = false;
};

/// Codes of 4 or 8 bits as numbers from 0 on: those of a signed type are moved by half of their range.
class Codes {
 public:
  Codes(const Tensor& tensor, int bits, bool is_signed)
      : bytes_(static_cast<const uint8_t*>(tensor.raw())), bits_(bits), flip_(is_signed ? 1u << (bits - 1) : 0) {}

  uint32_t operator[](int64_t i) const {
    const uint32_t byte = bytes_[bits_ == 8 ? i : i / 2];
    return (bits_ == 8 ? byte : (byte >> (i % 2 * 4)) & 15) ^ flip_;
  }

 private:
  const uint8_t* bytes_;
  int bits_;
  uint32_t flip_;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_op(node, "MatMul") || is_op(node, "Gemm")) fuse(node);
    }
    return rewrite_.take();
  }

 private:
  void fuse(const Node& product) {
    const TensorType& x = tensor_type(graph_, product.inputs[0]);
    if (x.dtype != DType::float32 || !x.has_rank() || x.rank() < 2 || !is_only_output(graph_, product)) return;
    bool transposed = false;
    ValueId bias = kNoValue;
    if (is_op(product, "Gemm")) {
      const ops::Gemm op = ops::Gemm::read(NodeView(graph_, product));
      if (op.transpose_a || op.alpha != 1 || op.beta != 1) return;
      transposed = op.transpose_b;
      bias = product.inputs.size() > 2 ? product.inputs[2] : kNoValue;
    }
    const auto weights = weights_of(product.inputs[1], transposed);
    if (!weights || is_quantised(product) || (bias != kNoValue && !is_row(bias, weights->n)) || !context_.admit()) return;
    replace(product, *weights, bias);
  }

  /// Whether the product is one of quantised values, which another pass may take yet.
  bool is_quantised(const Node& product) const {
    const Node *giver = graph_.producer(product.inputs[0]), *taker = only_user(graph_, product);
    return (giver && is_op(*giver, "DequantizeLinear")) || (taker && is_op(*taker, "QuantizeLinear"));
  }

  bool is_row(ValueId bias, int64_t columns) const {
    const TensorType& type = tensor_type(graph_, bias);
    return type.dtype == DType::float32 && type.is_static() && type.rank() == 1 && type.shape()[0] == columns;
  }

  std::optional<Weights> weights_of(ValueId id, bool transposed) const {
    const Node* node = graph_.producer(id);
    if (node && is_op(*node, "Transpose") && tensor_type(graph_, id).has_rank() && tensor_type(graph_, id).rank() == 2) {
      if (permutation(NodeView(graph_, *node)) != std::vector<int64_t>{1, 0}) return std::nullopt;
      transposed = !transposed;
      node = graph_.producer(node->inputs[0]);
    }
    if (!node || !is_op(*node, "DequantizeLinear")) return std::nullopt;
    const NodeView view(graph_, *node);
    Weights w{.node = node,
              .codes = view.constant_input(0),
              .scales = view.constant_input(1),
              .zeros = view.constant_input(2),
              .rows_are_columns = transposed};
    if (!w.codes || !w.scales || (view.has_input(2) && !w.zeros) || w.codes->shape().rank() != 2) return std::nullopt;
    const DType dtype = w.codes->dtype();
    w.is_signed = dtype == DType::int8 || dtype == DType::int4;
    w.bits = dtype == DType::int4 || dtype == DType::uint4 ? 4 : 8;
    const bool is_known = w.is_signed || dtype == DType::uint8 || dtype == DType::uint4;
    const ops::DequantizeLinear op = ops::DequantizeLinear::read(view);
    if (!is_known || w.scales->dtype() != DType::float32 || (op.to != DType::undefined && op.to != DType::float32)) return std::nullopt;
    if (w.zeros && (w.zeros->dtype() != dtype || w.zeros->elements() != w.scales->elements())) return std::nullopt;
    w.k = w.codes->shape()[transposed ? 1 : 0];
    w.n = w.codes->shape()[transposed ? 0 : 1];
    if (w.k < kLeastBlock || w.codes->elements() < kLeastWeights || !has_scales(w, op)) return std::nullopt;
    return w;
  }

  /// One for all, one a column, or one for each block of a column; `w` gets the block.
  static bool has_scales(Weights& w, const ops::DequantizeLinear& op) {
    const Shape& shape = w.scales->shape();
    if (op.block_size == 0 && w.scales->elements() == 1) return shape.rank() <= 1;
    const int axis_of_k = w.rows_are_columns ? 1 : 0, axis = static_cast<int>(op.axis < 0 ? op.axis + 2 : op.axis);
    if (op.block_size == 0) return shape.rank() == 1 && axis == 1 - axis_of_k && shape[0] == w.n;
    w.block = op.block_size;
    const bool is_power = std::has_single_bit(static_cast<uint64_t>(w.block));
    if (!is_power || w.block < kLeastBlock || axis != axis_of_k || shape.rank() != 2) return false;
    return shape[axis_of_k] == (w.k + w.block - 1) / w.block && shape[1 - axis_of_k] == w.n;
  }

  void replace(const Node& product, const Weights& weights, ValueId bias) {
    Node made;
    made.name = product.name;
    made.op_type = "MatMulNBits";
    made.domain = "com.microsoft";
    made.opset = 1;
    const int64_t block = weights.block > 0 ? weights.block : block_for(weights.k);
    made.attributes = {
        {"K", weights.k}, {"N", weights.n}, {"bits", int64_t{weights.bits}}, {"block_size", block}, {"accuracy_level", int64_t{4}}};
    made.inputs = constants(weights, block);
    made.inputs.insert(made.inputs.begin(), rewrite_.current(product.inputs[0]));
    std::vector<NodeId> nodes{product.id};
    const Node* last = &product;
    if (const Node* sum = bias == kNoValue ? only_user(graph_, product) : nullptr;
        sum && is_op(*sum, "Add") && is_only_output(graph_, *sum)) {
      const ValueId addend = other_input(*sum, product.outputs[0]);
      if (is_row(addend, weights.n) && graph_.value(addend).constant_tensor()) {
        bias = addend;
        last = sum;
        nodes.push_back(sum->id);
      }
    }
    if (bias != kNoValue) {
      made.inputs.resize(5, kNoValue);
      made.inputs.push_back(rewrite_.current(bias));
    }
    rewrite_.replace_nodes(std::move(made), *last, nodes);
  }

  static int64_t block_for(int64_t k) { return std::min(kBlockOfColumns, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(k)))); }

  /// Codes [N, blocks, bytes], scales [N * blocks] and, where it is not the middle of the range, packed zero points.
  const std::vector<ValueId>& constants(const Weights& w, int64_t block) {
    const auto [at, is_new] = made_.try_emplace({w.node->id, w.rows_are_columns});
    if (!is_new) return at->second;
    const int64_t blocks = (w.k + block - 1) / block, row = blocks * block * w.bits / 8;
    Tensor codes(DType::uint8, {w.n, blocks, block * w.bits / 8});
    std::fill_n(codes.data<uint8_t>(), codes.elements(), uint8_t{0});
    const Codes given(*w.codes, w.bits, w.is_signed);
    for (int64_t n = 0; n < w.n; n += kTile) {
      for (int64_t k = 0; k < w.k; k += kTile) put_tile(w, given, {n, std::min(n + kTile, w.n)}, {k, std::min(k + kTile, w.k)}, codes, row);
    }
    Tensor scales(DType::float32, {w.n * blocks});
    for (int64_t n = 0; n < w.n; ++n)
      for (int64_t b = 0; b < blocks; ++b) scales.data<float>()[n * blocks + b] = w.scales->data<float>()[place(w, blocks, n, b)];
    const std::string& name = graph_.value(w.node->outputs[0]).name;
    at->second = {rewrite_.edit().add_constant(name + "_codes", std::move(codes)),
                  rewrite_.edit().add_constant(name + "_scales", std::move(scales))};
    if (w.is_signed && !w.zeros) return at->second;
    const int64_t zero_row = (blocks * w.bits + 7) / 8;
    Tensor zeros(DType::uint8, {w.n * zero_row});
    std::fill_n(zeros.data<uint8_t>(), zeros.elements(), uint8_t{0});
    if (w.zeros) {
      const Codes points(*w.zeros, w.bits, w.is_signed);
      for (int64_t n = 0; n < w.n; ++n)
        for (int64_t b = 0; b < blocks; ++b) put(zeros.data<uint8_t>() + n * zero_row, w.bits, b, points[place(w, blocks, n, b)]);
    }
    at->second.push_back(rewrite_.edit().add_constant(name + "_zeros", std::move(zeros)));
    return at->second;
  }

  /// Tiles are turned within the first-level cache: rows that lie a power of two apart would push each other out of it.
  static void put_tile(const Weights& w, const Codes& given, Range columns, Range ks, Tensor& codes, int64_t row) {
    uint8_t tile[kTile][kTile];
    const int64_t step_n = w.rows_are_columns ? w.k : 1, step_k = w.rows_are_columns ? 1 : w.n;
    const Range outer = w.rows_are_columns ? columns : ks, inner = w.rows_are_columns ? ks : columns;
    for (int64_t o = outer.begin; o < outer.end; ++o) {
      for (int64_t i = inner.begin; i < inner.end; ++i) {
        const int64_t n = w.rows_are_columns ? o : i, k = w.rows_are_columns ? i : o;
        tile[n - columns.begin][k - ks.begin] = static_cast<uint8_t>(given[n * step_n + k * step_k]);
      }
    }
    for (int64_t n = columns.begin; n < columns.end; ++n) {
      uint8_t* const to = codes.data<uint8_t>() + n * row;
      const uint8_t* const from = tile[n - columns.begin];
      if (w.bits == 8) {
        std::copy_n(from, ks.size(), to + ks.begin);
      } else {
        for (int64_t k = ks.begin; k < ks.end; ++k) put(to, w.bits, k, from[k - ks.begin]);
      }
    }
  }

  static void put(uint8_t* row, int bits, int64_t i, uint32_t code) {
    if (bits == 8)
      row[i] = static_cast<uint8_t>(code);
    else
      row[i / 2] = static_cast<uint8_t>(row[i / 2] | code << (i % 2 * 4));
  }

  /// Of the scale of a block of column n.
  static int64_t place(const Weights& w, int64_t blocks, int64_t n, int64_t b) {
    if (w.scales->elements() == 1) return 0;
    if (w.block == 0) return n;
    return w.rows_are_columns ? n * blocks + b : b * w.n + n;
  }

  std::map<std::pair<NodeId, bool>, std::vector<ValueId>> made_;
};

}  // namespace

Edit fuse_dequantized_matmul(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
