#include "session/explain.h"

#include "ops/inference.h"
#include "session/model_options.h"

namespace rh {

ExplainedModel explain(Model model, SessionOptions options) {
  apply_config(options);
  ExplainedModel explained;
  explained.precision = precision_name(precision_of(options));
  collect_originals(*model.graph);  // so that the copy's nodes are told by them
  explained.as_read = model.graph->clone();
  turn_shapes_into_hints(*explained.as_read);
  try {
    infer_types(*explained.as_read);
  } catch (const Error&) {
    // The types of what comes before are all there is to show; place() says what is wrong where it matters.
  }
  explained.placed = place(std::move(model), options, Parallel());
  for (const auto& provider : explained.placed.providers) explained.providers.emplace_back(provider->name());
  if (explained.placed.placement.counts().unassigned == 0) {
    explained.copies = place_copies(*explained.placed.model.graph, explained.placed.assignment, explained.placed.providers);
  }
  return explained;
}

}  // namespace rh
