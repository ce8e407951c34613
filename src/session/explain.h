#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "session/compile/compile.h"

namespace rh {

/// A model divided among the providers of a session that is not made.
struct ExplainedModel {
  std::shared_ptr<Graph> as_read;  ///< before any pass; types where inference finds them
  PlacedModel placed;
  std::vector<CopyPlacement> copies;  ///< none where a node is without provider
  std::vector<std::string> providers;
  std::string precision;  ///< as precision_name() gives it
};

/// What a session with these options would do with a model: nothing is compiled, and nodes that no provider takes are no error. Throws
/// Error.
ExplainedModel explain(Model model, SessionOptions options);

}  // namespace rh
