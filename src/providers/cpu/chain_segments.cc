#include "providers/cpu/chain_segments.h"

#include <algorithm>
#include <optional>

namespace rh::cpu {

namespace {

using Op = ops::FusedElementwise;
using F = Op::Function;
using compute::ChainOp;
using compute::ChainStep;

/// An operation where the value at hand is the first operand, and where it is the second.
struct Forms {
  ChainOp first, second;
};

std::optional<Forms> binary_forms(F function) {
  switch (function) {
    case F::add:
    case F::sum: return Forms{ChainOp::add, ChainOp::add};
    case F::sub: return Forms{ChainOp::sub, ChainOp::sub_from};
    case F::mul: return Forms{ChainOp::mul, ChainOp::mul};
    case F::div: return Forms{ChainOp::div, ChainOp::div_into};
    case F::max: return Forms{ChainOp::max, ChainOp::max_from};
    case F::min: return Forms{ChainOp::min, ChainOp::min_from};
    case F::equal: return Forms{ChainOp::equal, ChainOp::equal};
    case F::greater:
    case F::less: return Forms{ChainOp::less, ChainOp::more};
    case F::greater_or_equal:
    case F::less_or_equal: return Forms{ChainOp::less_equal, ChainOp::more_equal};
    default: return std::nullopt;
  }
}

std::optional<ChainOp> unary_form(const Op::Step& step) {
  switch (step.function) {
    case F::neg: return ChainOp::neg;
    case F::abs: return ChainOp::abs;
    case F::sign: return ChainOp::sign;
    case F::sqrt: return ChainOp::sqrt;
    case F::reciprocal: return ChainOp::reciprocal;
    case F::floor: return ChainOp::floor;
    case F::ceil: return ChainOp::ceil;
    case F::round: return ChainOp::round;
    case F::relu: return ChainOp::relu;
    case F::leaky_relu: return ChainOp::leaky_relu;
    case F::hard_swish: return ChainOp::hard_swish;
    case F::hard_sigmoid: return ChainOp::hard_sigmoid;
    case F::softsign: return ChainOp::softsign;
    case F::exp: return ChainOp::exp;
    case F::log: return ChainOp::log;
    case F::tanh: return ChainOp::tanh;
    case F::sigmoid: return ChainOp::sigmoid;
    case F::erf: return ChainOp::erf;
    case F::sin: return ChainOp::sin;
    case F::cos: return ChainOp::cos;
    case F::swish: return step.alpha == 1 ? std::optional(ChainOp::silu) : std::nullopt;
    case F::clip: return step.alpha <= step.beta ? std::optional(ChainOp::clip) : std::nullopt;
    default: return std::nullopt;
  }
}

bool is_chained(const Op::Step& step) { return step.function == F::where || binary_forms(step.function) || unary_form(step); }

/// A choice by a comparison of operands: whether the value at hand is what is taken where it holds, and where it does not.
Forms choices_by(F comparison) {
  switch (comparison) {
    case F::equal: return {ChainOp::choose_if_equal, ChainOp::choose_unless_equal};
    case F::greater:
    case F::less: return {ChainOp::choose_if_less, ChainOp::choose_unless_less};
    default: return {ChainOp::choose_if_less_equal, ChainOp::choose_unless_less_equal};
  }
}

/// Writes the steps of one segment.
class Writer {
 public:
  Writer(std::span<const Op::Step> steps, size_t inputs, ChainSegment& segment)
      : first_(inputs + segment.begin), steps_(steps), inputs_(inputs), segment_(segment) {
    for (size_t s = segment.begin; s < segment.end; ++s) {
      if (!is_put_off(s)) {
        write(steps[s]);
        at_hand_ = inputs + s;
      }
      ends_.push_back(written_.size());
    }
  }

  /// False where the chain would take too many inputs.
  bool finish() {
    if (segment_.inputs.size() > static_cast<size_t>(compute::kMaxChainInputs)) return false;
    size_t next = 0;
    for (size_t s = 0; s < ends_.size(); ++s) {
      for (; next < ends_[s]; ++next) segment_.steps.push_back(written_[next]);
      const auto kept = std::find(kept_.begin(), kept_.end(), first_ + s);
      if (kept != kept_.end()) segment_.steps.push_back({ChainOp::keep, slot(kept)});
    }
    return true;
  }

 private:
  using Kept = std::vector<size_t>::iterator;
  uint8_t slot(Kept kept) { return static_cast<uint8_t>(compute::kMaxChainInputs + (kept - kept_.begin())); }

  /// The operand by which the chain finds a value that is not at hand.
  uint8_t operand(size_t value) {
    std::vector<size_t>& list = value >= first_ ? kept_ : segment_.inputs;
    auto found = std::find(list.begin(), list.end(), value);
    if (found == list.end()) found = list.insert(list.end(), value);
    return value >= first_ ? slot(found) : static_cast<uint8_t>(found - list.begin());
  }

  /// Whether a step compares inputs for one choice alone, which does not follow at once: it is then made there, and no truth values are
  /// kept.
  bool is_put_off(size_t s) const {
    const Op::Step& step = steps_[s];
    const auto value = static_cast<int>(inputs_ + s);
    if (!Op::gives_boolean(step.function) || Op::operand_count(step.function) != 2) return false;
    if (static_cast<size_t>(std::max(step.operands[0], step.operands[1])) >= first_) return false;
    size_t uses = 0, use = 0;
    for (size_t t = s + 1; t < steps_.size(); ++t) {
      for (int i = 0; i < Op::operand_count(steps_[t].function); ++i) {
        if (steps_[t].operands[static_cast<size_t>(i)] == value) ++uses, use = t;
      }
    }
    return uses == 1 && use > s + 1 && steps_[use].function == F::where && steps_[use].operands[0] == value;
  }

  /// A choice by a comparison that was put off.
  void write_choice(const Op::Step& choice, const Op::Step& comparison) {
    const auto first = static_cast<size_t>(choice.operands[1]), other = static_cast<size_t>(choice.operands[2]);
    if (first != at_hand_ && other != at_hand_) load(first);
    const Forms forms = choices_by(comparison.function);
    const bool is_first = first == at_hand_;
    ChainStep step{is_first ? forms.first : forms.second};
    step.a = operand(static_cast<size_t>(comparison.operands[0]));
    step.b = operand(static_cast<size_t>(comparison.operands[1]));
    step.c = operand(is_first ? other : first);
    written_.push_back(step);
  }

  void load(size_t value) {
    written_.push_back({ChainOp::load, operand(value)});
    at_hand_ = value;
  }

  void write(const Op::Step& step) {
    const auto value = [&](size_t i) { return static_cast<size_t>(step.operands[i]); };
    const int count = Op::operand_count(step.function);
    if (step.function == F::where && value(0) >= first_ && is_put_off(value(0) - inputs_)) {
      return write_choice(step, steps_[value(0) - inputs_]);
    }
    bool at_hand = false;
    for (int i = 0; i < count; ++i) at_hand = at_hand || value(static_cast<size_t>(i)) == at_hand_;
    if (!at_hand) load(value(0));
    if (count == 1) {
      written_.push_back({unary_form(step).value(), 0, 0, step.alpha, step.beta});
    } else if (step.function == F::where) {
      const size_t held = value(0) == at_hand_ ? 0 : value(1) == at_hand_ ? 1 : 2;
      const ChainOp forms[] = {ChainOp::choose, ChainOp::choose_first, ChainOp::choose_other};
      written_.push_back({forms[held], operand(value(held == 0 ? 1 : 0)), operand(value(held == 2 ? 1 : 2))});
    } else if (step.function == F::mul && value(0) == value(1)) {
      written_.push_back({ChainOp::square});
    } else {
      const Forms forms = binary_forms(step.function).value();
      const bool is_first = value(0) == at_hand_;
      written_.push_back({is_first ? forms.first : forms.second, operand(value(is_first ? 1 : 0))});
    }
  }

  size_t first_;
  std::span<const Op::Step> steps_;
  size_t inputs_;
  ChainSegment& segment_;
  size_t at_hand_ = SIZE_MAX;
  std::vector<ChainStep> written_;
  std::vector<size_t> ends_;  ///< of each step of the operator, in what is written
  std::vector<size_t> kept_;  ///< results that are read again
};

}  // namespace

std::vector<ChainSegment> chain_segments(std::span<const Op::Step> steps, size_t inputs, std::span<const int64_t> outputs) {
  std::vector<size_t> last_use(steps.size(), 0);
  for (size_t s = 0; s < steps.size(); ++s) {
    for (int i = 0; i < Op::operand_count(steps[s].function); ++i) {
      const auto value = static_cast<size_t>(steps[s].operands[static_cast<size_t>(i)]);
      if (value >= inputs) last_use[value - inputs] = s;
    }
  }
  for (const int64_t output : outputs) last_use[static_cast<size_t>(output)] = steps.size();
  std::vector<ChainSegment> segments;
  for (size_t begin = 0; begin < steps.size();) {
    // Truth values are made and used within a segment.
    const auto joins = [&](size_t s) {
      return is_chained(steps[s]) && (steps[s].function != F::where || static_cast<size_t>(steps[s].operands[0]) >= inputs + begin);
    };
    size_t end = begin;
    while (end < steps.size() && joins(end)) ++end;
    const auto is_closed = [&] {
      if (Op::gives_boolean(steps[end - 1].function)) return false;
      for (size_t s = begin; s + 1 < end; ++s)
        if (last_use[s] >= end) return false;
      return true;
    };
    while (end > begin + 1 && !is_closed()) --end;
    ChainSegment segment{begin, end, {}, {}};
    if (end > begin + 1 && Writer(steps, inputs, segment).finish()) {
      segments.push_back(std::move(segment));
      begin = end;
    } else {
      ++begin;
    }
  }
  return segments;
}

}  // namespace rh::cpu
