#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "onnx/nchwc_weights.h"
#include "ops/node_view.h"

namespace rh::onnx {

inline constexpr std::string_view kNchwcDomain = "com.microsoft.nchwc";

/// Whether the node is of the domain whose operators have channels in blocks.
inline bool is_nchwc(const Node& node) { return node.domain == kNchwcDomain; }

/// What says how many channels a block has; all of a model must say the same.
class BlockSizeVotes {
 public:
  /// Throws Error{invalid_graph} where a node before said something else.
  void vote(int block, const NodeView& node);
  std::optional<int> block() const { return block_; }

 private:
  std::optional<int> block_;
  std::string node_;
};

/// A convolution of the domain.
struct NchwcConv {
  NodeId node;
  BlockedWeights weights;
  const Tensor* bias = nullptr;  ///< null where there is none, or none that is constant
  int64_t group = 1;
  bool is_depthwise = false;
};

/// Which values of a graph have their channels in blocks, and how many channels those are. Stored channels are a multiple of the block
/// size; those behind the model's own are 0 before the first function, and nothing depends on them.
class NchwcRegions {
 public:
  /// Throws Error{invalid_graph} where an operator of the domain is not as ONNX Runtime writes it, or one that knows no blocks takes them.
  NchwcRegions(const Graph& graph, BlockSizeVotes& votes);

  /// To be called once the block size is known, before what follows. Throws Error{invalid_graph} where numbers of channels do not fit it.
  void count_channels(int block);

  const Graph& graph() const { return graph_; }
  const std::vector<NchwcConv>& convs() const { return convs_; }
  bool is_in_blocks(ValueId value) const { return value != kNoValue && channels_[static_cast<size_t>(value)] >= 0; }
  /// Whether the node only splits the channels of a value in blocks into two dimensions, or joins these.
  bool is_reshape_of_blocks(const Node& node) const {
    return node.op_type == "Reshape" && !node.outputs.empty() && is_in_blocks(node.outputs[0]);
  }
  /// How many channels of the value are needed; 0 where nothing in the file says how many there are.
  int64_t count(ValueId value) const;
  /// Of a ReorderInput: the channels of its input; nothing where the file does not say.
  static std::optional<int64_t> given_channels(const NodeView& node);

 private:
  /// Channels that values have in common: what is true of one is true of all that element-wise operators connect.
  struct Channels {
    int parent;          // itself where it is the root, which alone has the rest
    int64_t stored = 0;  // 0: not known
    int64_t needed = 0;
    bool all = false;  // those that only fill a block up are needed too
  };

  void look_at(const Node& node);
  void look_at_nchwc(const NodeView& node);
  void look_at_conv(const NodeView& node);
  void look_at_weights(const NodeView& node, NchwcConv& conv);
  void look_at_reshape(const NodeView& node);
  void look_at_concat(const NodeView& node);
  void look_at_elements(const NodeView& node);
  void vote_by_reorders();
  void count_concats();

  int root(ValueId value) const;
  void begin(const NodeView& node);
  void join(ValueId a, ValueId b, const NodeView& node);
  void set_stored(ValueId value, int64_t stored, const NodeView& node);
  void require_blocks(const NodeView& node, int input) const;
  void require_input(const NodeView& node) const;
  void require_output(const NodeView& node) const;

  const Graph& graph_;
  BlockSizeVotes& votes_;
  std::vector<int> channels_;   // by value; -1 where it is not in blocks
  std::vector<bool> is_split_;  // by value in blocks: [N, C / block, H, W, block] instead of [N, C, H, W]
  mutable std::vector<Channels> all_channels_;
  std::vector<NchwcConv> convs_;
  std::vector<NodeId> reorders_, concats_;
};

}  // namespace rh::onnx
