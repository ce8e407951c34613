#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace rh::passes {

/// A half of x's last dimension, which a Slice or an output of Split is.
struct Half {
  const Node* node = nullptr;  ///< null where it is none
  ValueId x = kNoValue;
  int64_t start = -1;
};

Half half_of(const Graph& graph, ValueId value);

/// The first or second of each pair of x's elements: every second element of its last dimension, or, where `has_own_dimension`, one of two
/// of that.
struct Alternate {
  ValueId x = kNoValue;  ///< none where it is no such
  int64_t index = -1;
  bool has_own_dimension = false;
};

/// As a Slice, a Gather, an output of Split or a view of one without the last dimension gives it.
Alternate alternate_of(const Graph& graph, ValueId value);

/// What rotary embeddings add times the sines: the halves of x's last dimension exchanged, the second one negated, [-x2, x1], or so each
/// pair of neighbours.
struct RotatedHalves {
  ValueId x = kNoValue;
  std::vector<NodeId> nodes;  ///< that make it: the last of them first
  bool are_pairs = false;
};

/// The value as such, written as Concat of Neg of one Slice (or output of Split) and another one, which nothing else takes; nothing where
/// it is none. Whoever takes the value itself is left to the caller.
std::optional<RotatedHalves> rotated_halves(const Graph& graph, ValueId value);
/// The same of pairs, written as a view of the Concat of Neg of every second element from x[1] on and every second one from x[0] on, each
/// with a last dimension of 1.
std::optional<RotatedHalves> rotated_pairs(const Graph& graph, ValueId value);

}  // namespace rh::passes
