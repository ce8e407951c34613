#include "providers/kernel.h"

namespace rh {

void RunContext::fail_left_out(int i) { fail(ErrorCode::invalid_graph, "input {} is left out, expected a value", i); }

InlineVector<int64_t, 8> RunContext::input_ints(int i) const {
  const TensorView view = input(i);
  InlineVector<int64_t, 8> values;
  const int64_t count = view.elements();
  values.reserve(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) values.push_back(element_as_int(view, k));
  return values;
}

}  // namespace rh
