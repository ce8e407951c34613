#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/dim.h"

namespace rh {

/// Size expressions over symbols, compiled into straight-line code over registers; equal expressions share one.
class SizeProgram {
 public:
  using Register = int32_t;
  static constexpr Register kNone = -1;
  /// What a register holds after an overflow or a division by zero.
  static constexpr int64_t kInvalid = std::numeric_limits<int64_t>::min();

  /// Adds a symbol that the caller gives a value; returns its number, which is also its register. All symbols come before the first
  /// expression.
  Register add_symbol(std::string_view name);
  Register find_symbol(std::string_view name) const;
  int32_t symbols() const { return symbols_; }

  /// The register that will hold the value of `dim`; kNone where it is unknown or uses a symbol that was not added.
  Register add(const Dim& dim);
  int32_t registers() const { return symbols_ + static_cast<int32_t>(code_.size()); }

  /// `values` has registers() places; the caller fills the first symbols(), this the others.
  void evaluate(std::span<int64_t> values) const;

 private:
  enum class Op : uint8_t { constant, add, multiply, function };
  struct Instruction {
    Op op;
    Dim::Function function;
    Register a, b;
    int64_t value;
  };
  Register emit(const Instruction& instruction);
  Register add_atom(const Dim::Atom& atom);

  int32_t symbols_ = 0;
  std::vector<Instruction> code_;
  std::unordered_map<std::string, Register> known_;  ///< symbols and expressions by their canonical text
};

}  // namespace rh
