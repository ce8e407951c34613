#pragma once

#include <functional>
#include <set>
#include <string>

#include "graph/graph.h"

namespace rh::kit {

using Symbols = std::set<std::string, std::less<>>;

/// The symbols of a graph whose sizes have to stay as they are. Of the others, tensors may be padded at the end of their axes with zeros:
/// what is computed there is no number that a result within the true sizes depends on, whatever it is. Only what is known of an operator
/// counts: of one that is not known all symbols stay.
Symbols fixed_symbols(const Graph& graph);

/// Those of inputs that grow from run to run: an output is as the input but for one axis, on which something is added to it, as to the past
/// keys of a decoder; and those that have to be as large, as a mask's.
Symbols growing_symbols(const Graph& graph);

}  // namespace rh::kit
