#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/inline_vector.h"
#include "graph/type.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// The tensors that the iterations of a loop give to one scan output, joined along a new first dimension as they come.
class ScanOutput {
 public:
  /// Takes the next one of at most `most`, into memory of the run; all must have one shape and element type. `what` names the output in
  /// the error.
  Status add(RunContext& context, const Tensor& tensor, int64_t most, const char* what);
  /// Writes output i. Where nothing was added it has no rows of a type (null: of `output`'s element type alone).
  void write(RunContext& context, int output, const ValueType* row);

 private:
  DType dtype_ = DType::undefined;
  Shape shape_;
  int64_t count_ = 0;
  struct Piece {
    uint8_t* data = nullptr;
    size_t bytes = 0, room = 0;
  };
  /// Where the next `bytes` go, of at most so many iterations in all.
  uint8_t* take(RunContext& context, size_t bytes, int64_t most);
  void join(uint8_t* to) const;

  InlineVector<Piece, 16> pieces_;  ///< one after the other: a byte an element for packed types
  size_t bytes_ = 0;                ///< of all
  std::vector<std::string> strings_;
};

/// Inputs and outputs of a loop's body that stay with it from run to run, so that their memory serves again: at the end of a run nothing of
/// the node's inputs is among them.
struct KeptValues {
  std::span<Value> inputs, outputs;

  KeptValues(SubgraphRunner& body, size_t input_count) {
    const std::span<Value> all = body.kept(input_count + static_cast<size_t>(body.output_count()));
    inputs = all.first(input_count);
    outputs = all.subspan(input_count);
  }
  ~KeptValues() {
    for (std::span<Value> values : {inputs, outputs}) {
      for (Value& value : values)
        if (!value.is_tensor() || value.tensor().owner().use_count() != 1) value = Value();
    }
  }
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;

  /// What iteration `iteration` gave at `output` is what the next one takes at `input`, whose memory serves it in turn; in the first one
  /// that memory is the node's, and another takes its place.
  void carry(size_t input, size_t output, int64_t iteration, RunContext& context, int result) const {
    std::swap(inputs[input], outputs[output]);
    if (iteration == 0) outputs[output] = result < context.output_count() ? context.spare_output(result) : Value();
  }
};

/// A value that may stay when the inputs of the node are gone: a copy where its memory is nobody's or lies within an input's.
Value independent(const RunContext& context, Value value);

/// A tensor that owns its memory.
Tensor owned(const Tensor& tensor);

}  // namespace rh::cpu
