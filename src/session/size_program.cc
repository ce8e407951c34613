#include "session/size_program.h"

namespace rh {

SizeProgram::Register SizeProgram::add_symbol(std::string_view name) {
  const auto [at, added] = known_.emplace(std::string(name), symbols_);
  if (added) ++symbols_;
  return at->second;
}

SizeProgram::Register SizeProgram::find_symbol(std::string_view name) const {
  const auto at = known_.find(std::string(name));
  return at != known_.end() && at->second < symbols_ ? at->second : kNone;
}

SizeProgram::Register SizeProgram::emit(const Instruction& instruction) {
  code_.push_back(instruction);
  return registers() - 1;
}

SizeProgram::Register SizeProgram::add_atom(const Dim::Atom& atom) {
  if (!atom.name.empty()) return find_symbol(atom.name);
  const Register a = add(atom.a), b = add(atom.b);
  if (a == kNone || b == kNone) return kNone;
  return emit({Op::function, atom.function, a, b, 0});
}

SizeProgram::Register SizeProgram::add(const Dim& dim) {
  if (dim.is_unknown()) return kNone;
  const std::string text = dim.to_string();
  if (const auto at = known_.find(text); at != known_.end()) return at->second;
  Register sum = kNone;
  if (dim.is_constant() || dim.constant_term() != 0) {
    sum = emit({Op::constant, {}, 0, 0, dim.is_constant() ? dim.value() : dim.constant_term()});
  }
  if (!dim.is_constant()) {
    for (const Dim::Term& term : dim.terms()) {
      Register product = kNone;
      if (term.coefficient != 1) product = emit({Op::constant, {}, 0, 0, term.coefficient});
      for (const auto& factor : term.factors) {
        const Register value = add_atom(*factor);
        if (value == kNone) return kNone;
        product = product == kNone ? value : emit({Op::multiply, {}, product, value, 0});
      }
      sum = sum == kNone ? product : emit({Op::add, {}, sum, product, 0});
    }
  }
  known_.emplace(text, sum);
  return sum;
}

void SizeProgram::evaluate(std::span<int64_t> values) const {
  size_t to = static_cast<size_t>(symbols_);
  for (const Instruction& step : code_) {
    int64_t result = step.value;
    bool valid = true;
    if (step.op != Op::constant) {
      const int64_t a = values[static_cast<size_t>(step.a)], b = values[static_cast<size_t>(step.b)];
      valid = a != kInvalid && b != kInvalid;
      if (step.op == Op::add) {
        valid = valid && !__builtin_add_overflow(a, b, &result);
      } else if (step.op == Op::multiply) {
        valid = valid && !__builtin_mul_overflow(a, b, &result);
      } else if (valid) {
        const auto value = rh::evaluate(step.function, a, b);
        valid = value.has_value();
        result = value.value_or(0);
      }
    }
    values[to++] = valid ? result : kInvalid;
  }
}

}  // namespace rh
