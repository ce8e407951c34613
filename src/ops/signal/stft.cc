#include "ops/signal/stft.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const STFT& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() != 2 && x.rank() != 3)
    context.node().fail("signal has shape {}, expected [batch, length] or [batch, length, 1 or 2]", to_string(*x.dims));
  const auto step = context.input_ints(1);
  Dim length = (*x.dims)[1];
  if (context.has_input(3)) {
    const auto given = context.input_ints(3);
    length = given && given->size() == 1 ? Dim((*given)[0]) : Dim();
  } else if (context.has_input(2)) {
    const TensorType& window = context.input_tensor(2);
    length = window.has_rank() && window.rank() == 1 ? (*window.dims)[0] : Dim();
  }
  Dim frames, bins;
  const Dim& signal = (*x.dims)[1];
  if (length.is_constant() && length.value() > 0) {
    bins = op.onesided ? length.value() / 2 + 1 : length.value();
    const bool known = signal.is_constant() && step && step->size() == 1 && (*step)[0] > 0 && signal.value() >= length.value();
    if (known) frames = (signal.value() - length.value()) / (*step)[0] + 1;
  }
  context.set_output(0, x.dtype, SymbolicShape{(*x.dims)[0], frames, bins, 2});
}

}  // namespace rh::ops

RH_DEFINE_OP(STFT)
