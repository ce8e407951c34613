#include "ops/math/fused_elementwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

#include "compute/move/elements.h"
#include "compute/scratch.h"
#include "providers/cpu/chain_segments.h"
#include "providers/cpu/chain_source.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

namespace {

using Op = ops::FusedElementwise;
using F = Op::Function;

constexpr int64_t kTileBytes = 8192;       // of a value: a few of them stay in the first-level cache
constexpr int64_t kLongTileBytes = 65536;  // where no value but inputs and output lies in memory
constexpr int64_t kRowsTogether = 8;
constexpr int64_t kLongRow = 32768;   // elements: what rows share of shorter ones stays in the second-level cache
constexpr int64_t kVector = 16;       // elements; pieces of rows are whole vectors
constexpr int64_t kChainBlock = 128;  // elements that chains take at once; what is left of a tile is copied for them
constexpr size_t kMaxValues = Op::kMaxInputs + Op::kMaxSteps;

/// A step with its function; one of the rows is set.
struct RowStep {
  UnaryRow unary = nullptr;
  BinaryRow binary = nullptr;
  ChoiceRow choice = nullptr;
  double operations = 1;
};

void set_row(RowStep& step, UnaryRow row) { step.unary = row; }
void set_row(RowStep& step, BinaryRow row) { step.binary = row; }
template <typename Function>
double price_of(Function function) {
  if constexpr (requires { operations_of(function); }) return operations_of(function);
  return 1;
}

RowStep row_step(F function, DType dtype) {
  RowStep step;
  switch (function) {
#define RH_STEP(name, text, operands, attributes)                  \
  case F::name:                                                    \
    set_row(step, row_of(ops::attributes::Function::name, dtype)); \
    step.operations = price_of(ops::attributes::Function::name);   \
    break;
#include "ops/math/fused_elementwise_steps.inc"
#undef RH_STEP
    case F::clip: step.unary = clip_row(dtype); break;
    case F::where: step.choice = choice_row(dtype); break;
  }
  return step;
}

using Sources = std::array<std::optional<ChainSource>, Op::kMaxInputs>;

struct Outputs {
  DType dtype;                                    ///< of the last step's, the others have the chain's
  std::array<char*, Op::kMaxSteps> results = {};  ///< where those of steps lie that are outputs; null for others
};

/// The steps for one element type.
struct Program {
  DType dtype = DType::undefined;
  std::vector<RowStep> steps;
  std::vector<ChainSegment> segments;  ///< of steps that are done in registers
  double operations = 0;               ///< an element
};

}  // namespace

class FusedElementwiseKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit FusedElementwiseKernel(const KernelInfo& info)
      : op_(info.attributes<Op>()), inputs_(static_cast<size_t>(info.node().input_count())) {
    for (Op::Step& step : op_.steps) {
      if (step.function == F::greater || step.function == F::greater_or_equal) std::swap(step.operands[0], step.operands[1]);
    }
    assign_rooms();
    program_ = program(info.input_dtype(0));
    // A boolean output may have the bytes of an input with fewer elements.
    // What is rotated is read elsewhere than it is written.
    for (size_t i = 0; i < inputs_ && op_.rotated.empty() && !Op::gives_boolean(op_.steps.back().function); ++i)
      aliases_.push_back({0, static_cast<int>(i), Alias::Kind::in_place});
  }

  std::span<const Alias> aliases() const override { return aliases_; }

  Status run(RunContext& context) const override {
    const DType dtype = context.input(0).dtype();
    Program other;
    if (dtype != program_.dtype) other = program(dtype);
    const Program& program = dtype == program_.dtype ? program_ : other;
    if (program.steps.empty()) {
      return error_status(ErrorCode::not_implemented, "FusedElementwise: element type {} is not one of all its operators'",
                          to_string(dtype));
    }
    Shape shape;
    for (size_t i = 0; i < inputs_; ++i) {
      const TensorView x = context.input(static_cast<int>(i));
      const DType expected = is_boolean_[i] ? DType::boolean : dtype;
      if (x.dtype() != expected) {
        return error_status(ErrorCode::invalid_argument, "FusedElementwise: input {} is {}, expected {}", i, to_string(x.dtype()),
                            to_string(expected));
      }
      shape = broadcast(shape, x.shape());
    }
    const MutableView y = context.output(0, Op::gives_boolean(op_.steps.back().function) ? DType::boolean : dtype, shape);
    Outputs outputs{.dtype = y.dtype()};
    outputs.results[op_.steps.size() - 1] = static_cast<char*>(y.raw());
    for (size_t i = 0; i < op_.results.size(); ++i) {
      const int output = static_cast<int>(i) + 1;
      if (!context.has_output(output)) continue;
      outputs.results[static_cast<size_t>(op_.results[i])] = static_cast<char*>(context.output(output, dtype, shape).raw());
    }
    if (y.elements() == 0) return {};
    Sources sources;
    double bytes =
        static_cast<double>(bits_of(y.dtype()) / 8) + static_cast<double>(bits_of(dtype) / 8) * static_cast<double>(op_.results.size());
    int64_t streams = 0;
    for (size_t i = 0; i < inputs_; ++i) {
      sources[i].emplace(context.input(static_cast<int>(i)), shape);
      bytes += sources[i]->bytes_per_element();
      if (context.input(static_cast<int>(i)).elements() == y.elements()) ++streams;
    }
    const bool far = compute::chain_is_far(streams, bytes * static_cast<double>(y.elements()));
    RH_RETURN_IF_ERROR(rotate(context, shape, sources));
    const int64_t row = row_length(sources);
    context.parallel().for_range(y.elements(), {bytes, program.operations},
                                 [&](Range part) { run_part(part, program, row, far, sources, outputs); });
    return {};
  }

 private:
  /// Without steps where an operator does not have the type.
  Program program(DType dtype) const {
    Program program{dtype, {}, {}};
    for (const Op::Step& step : op_.steps) {
      const RowStep row = row_step(step.function, dtype);
      if (!row.unary && !row.binary && !row.choice) return {dtype, {}, {}};
      program.steps.push_back(row);
      program.operations += row.operations;
    }
    if (dtype == DType::float32) program.segments = chain_segments(op_.steps, inputs_, op_.results);
    return program;
  }

  /// Gives each result but the last a piece of a tile's memory until its last use, and one to each input.
  void assign_rooms() {
    const size_t count = op_.steps.size();
    std::array<size_t, kMaxValues> last_use = {};
    for (size_t s = 0; s < count; ++s) {
      const Op::Step& step = op_.steps[s];
      is_boolean_[inputs_ + s] = Op::gives_boolean(step.function);
      if (step.function == F::where) is_boolean_[static_cast<size_t>(step.operands[0])] = true;
      for (int i = 0; i < Op::operand_count(step.function); ++i) last_use[static_cast<size_t>(step.operands[static_cast<size_t>(i)])] = s;
    }
    std::vector<size_t> owners;
    for (size_t s = 0; s + 1 < count; ++s) {
      const size_t result = inputs_ + s;
      // A result may overwrite an operand of its own type.
      const auto room = std::find_if(owners.begin(), owners.end(), [&](size_t owner) {
        return last_use[owner] < s || (last_use[owner] == s && !is_boolean_[owner] && !is_boolean_[result]);
      });
      rooms_[result] = static_cast<size_t>(room - owners.begin());
      if (room == owners.end()) {
        owners.push_back(result);
      } else {
        *room = result;
      }
    }
    room_count_ = owners.size();
    for (size_t i = 0; i < inputs_; ++i) rooms_[i] = room_count_++;
  }

  Status rotate(RunContext& context, const Shape& output, Sources& sources) const {
    for (const int64_t input : op_.rotated) {
      const TensorView x = context.input(static_cast<int>(input));
      const int64_t length = x.rank() > 0 ? x.shape()[x.rank() - 1] : 1;
      if (x.elements() != output.elements() || length % 2 != 0) {
        return error_status(ErrorCode::invalid_argument,
                            "FusedElementwise: input {}, which is rotated, has shape {}, expected that of the output, {}, and an even last "
                            "dimension",
                            input, x.shape().to_string(), output.to_string());
      }
      sources[static_cast<size_t>(input)]->rotate(x, length, op_.rotates_pairs);
    }
    return {};
  }

  /// What tiles must not cross: the least row of an input that broadcasts, where rows are long enough. Else a length of short rows, of
  /// which tiles are to have whole ones; 0 where they may have any size.
  int64_t row_length(const Sources& sources) const {
    int64_t least = 0, short_row = 0;
    for (size_t i = 0; i < inputs_; ++i) {
      const int64_t length = sources[i]->row_length();
      if (length >= OperandTiles::kShortRow && (least == 0 || length < least)) least = length;
      if (length < OperandTiles::kShortRow && sources[i]->stays_in_rows()) short_row = length;
    }
    return least > 0 ? least : short_row;
  }

  bool stays_in_registers(const Program& program, const Sources& sources) const {
    if (program.segments.size() != 1 || program.segments[0].begin != 0 || program.segments[0].end != op_.steps.size()) return false;
    return std::ranges::all_of(sources, [](const auto& source) { return !source || source->lies_in_rows(); });
  }

  void run_part(Range part, const Program& program, int64_t row, bool far, const Sources& sources, const Outputs& outputs) const {
    char* rooms = static_cast<char*>(compute::thread_scratch(compute::ScratchSlot::row, room_count_ * kTileBytes));
    int64_t tile = (stays_in_registers(program, sources) ? kLongTileBytes : kTileBytes) / (bits_of(program.dtype) / 8);
    if (row >= OperandTiles::kShortRow) {
      const int64_t pieces = (row + tile - 1) / tile;
      tile = std::min(tile, ((row + pieces - 1) / pieces + kVector - 1) / kVector * kVector);
    } else if (row > 0) {
      const int64_t blocks = std::lcm(row, kChainBlock);
      tile = blocks <= tile ? tile / blocks * blocks : tile / row * row;
      row = 0;
    }
    const int64_t bytes = bits_of(program.dtype) / 8, last_bytes = bits_of(outputs.dtype) / 8;
    const auto run_tile = [&](int64_t at, int64_t count) {
      std::array<Place, kMaxValues> values;
      for (size_t i = 0; i < inputs_; ++i) values[i] = sources[i]->tile(at, count, rooms + rooms_[i] * kTileBytes);
      auto segment = program.segments.begin();
      for (size_t s = 0; s < op_.steps.size(); ++s) {
        const bool joined = segment != program.segments.end() && segment->begin == s;
        if (joined) s = segment->end - 1;
        char* out = outputs.results[s];
        if (out) {
          out += at * (s + 1 == op_.steps.size() ? last_bytes : bytes);
        } else {
          out = rooms + rooms_[inputs_ + s] * kTileBytes;
        }
        if (joined) {
          run_segment(*segment++, values, reinterpret_cast<float*>(out), count, far);
        } else {
          run_step(op_.steps[s], program.steps[s], program.dtype, values, out, count);
        }
        values[inputs_ + s] = {out, 1};
      }
    };
    for (int64_t at = part.begin; at < part.end;) {
      if (row >= kLongRow && at % row == 0 && part.end - at >= kRowsTogether * row) {
        // Piece by piece of some rows, so that what they share stays in the cache. Memory read in order is worth more where rows are
        // shorter.
        for (int64_t column = 0; column < row; column += tile)
          for (int64_t i = 0; i < kRowsTogether; ++i) run_tile(at + i * row + column, std::min(tile, row - column));
        at += kRowsTogether * row;
        continue;
      }
      const int64_t count = std::min({tile, part.end - at, row > 0 ? row - at % row : tile});
      run_tile(at, count);
      at += count;
    }
  }

  static void run_segment(const ChainSegment& segment, const std::array<Place, kMaxValues>& values, float* out, int64_t count, bool far) {
    std::array<compute::ChainInput, compute::kMaxChainInputs> inputs;
    for (size_t i = 0; i < segment.inputs.size(); ++i) {
      const Place& place = values[segment.inputs[i]];
      inputs[i] = {reinterpret_cast<const float*>(place.data), place.step};
    }
    compute::run_chain(segment.steps, {inputs.data(), segment.inputs.size()}, out, count, far);
  }

  static void run_step(const Op::Step& step, const RowStep& row, DType dtype, const std::array<Place, kMaxValues>& values, char* out,
                       int64_t count) {
    const auto value = [&](size_t operand) { return values[static_cast<size_t>(step.operands[operand])]; };
    const Place x = value(0);
    if (row.unary) {
      const float numbers[] = {step.alpha, step.beta};
      if (x.step == 0) compute::fill_elements(compute::element_kind(dtype), x.data, out, count);
      run_unary_row(row.unary, dtype, x.step == 0 ? out : x.data, out, count, numbers);
    } else if (row.binary) {
      row.binary(x.data, x.step, value(1).data, value(1).step, out, count);
    } else {
      row.choice(reinterpret_cast<const bool*>(x.data), x.step, value(1).data, value(1).step, value(2).data, value(2).step, out, count);
    }
  }

  Op op_;
  size_t inputs_;
  Program program_;
  std::vector<Alias> aliases_;
  std::array<bool, kMaxValues> is_boolean_ = {};  // of inputs and results
  std::array<size_t, kMaxValues> rooms_ = {};
  size_t room_count_ = 0;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FusedElementwiseKernel)
