#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"

namespace rh {

/// A dimension: a number, an integer expression over named symbols, or unknown. Immutable, cheap to copy.
/// Expressions are kept as polynomials in normal form, so that equal ones compare equal: (a + b) - a == b.
class Dim {
 public:
  enum class Function : uint8_t { floor_div, ceil_div, mod, min, max };

  /// A symbol, or a function of two expressions that is not a polynomial.
  struct Atom;
  struct Term {
    int64_t coefficient = 1;
    std::vector<std::shared_ptr<const Atom>> factors;  ///< sorted; repeated for powers
  };

  Dim() = default;  ///< unknown
  Dim(int64_t value) : kind_(Kind::constant), value_(value) {}
  static Dim symbol(std::string name);
  static Dim unknown() { return {}; }
  static Dim apply(Function function, const Dim& a, const Dim& b);

  bool is_unknown() const { return kind_ == Kind::unknown; }
  bool is_constant() const { return kind_ == Kind::constant; }
  bool is_constant(int64_t value) const { return is_constant() && value_ == value; }
  int64_t value() const { return value_; }  ///< of a constant
  /// The name when this is one plain symbol, else empty.
  std::string_view symbol_name() const;

  /// Unknown where a side is unknown or a coefficient would overflow.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  /// Equal expressions; unknown equals nothing, not even unknown.
  friend bool operator==(const Dim& a, const Dim& b);

  /// The value where `lookup` knows every symbol; nothing on overflow, division by zero or an unknown symbol.
  std::optional<int64_t> evaluate(FunctionRef<std::optional<int64_t>(std::string_view)> lookup) const;
  /// Calls visit for each symbol, perhaps more than once.
  void for_each_symbol(FunctionRef<void(std::string_view)> visit) const;
  /// Terms of an expression; empty for constants and unknown.
  const std::vector<Term>& terms() const;
  int64_t constant_term() const;

  /// "3", "batch", "2*seq + 1", "?". A symbol whose name is no plain word stands in quotes.
  std::string to_string() const;

 private:
  enum class Kind : uint8_t { unknown, constant, expression };
  struct Polynomial;
  static Dim from(Polynomial polynomial);
  static Dim divide_exactly(const Dim& a, const Dim& b);  ///< unknown where the division leaves a rest
  Polynomial polynomial() const;

  Kind kind_ = Kind::unknown;
  int64_t value_ = 0;
  std::shared_ptr<const Polynomial> expression_;
};

struct Dim::Atom {
  std::string name;  ///< of a symbol; empty for a function
  Function function = Function::floor_div;
  Dim a, b;
  std::string text;  ///< canonical: orders and compares atoms
};

/// Whether inference, and no model, made the symbol: "_s<number>", "_input<number>_<number>".
bool is_generated_symbol(std::string_view name);
/// Of these, whether only a run tells its value: "_s<number>".
bool is_computed_symbol(std::string_view name);

/// The value of a function of two numbers; nothing on division by zero or overflow.
std::optional<int64_t> evaluate(Dim::Function function, int64_t a, int64_t b);

/// A shape whose dimensions may be symbolic.
using SymbolicShape = std::vector<Dim>;
std::string to_string(const SymbolicShape& dims);
Dim product(const SymbolicShape& dims, size_t first, size_t last);

}  // namespace rh
