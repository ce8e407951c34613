#include "graph/dim.h"

#include <algorithm>
#include <limits>

namespace rh {

struct Dim::Polynomial {
  int64_t constant = 0;
  std::vector<Term> terms;  // sorted by factors, no zero coefficients
  std::string text;
};

namespace {

using Factors = std::vector<std::shared_ptr<const Dim::Atom>>;

bool less(const Factors& a, const Factors& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const auto& x, const auto& y) { return x->text < y->text; });
}

bool same(const Factors& a, const Factors& b) { return !less(a, b) && !less(b, a); }

std::string term_text(const Dim::Term& term) {
  std::string text;
  if (term.coefficient == -1) {
    text = "-";
  } else if (term.coefficient != 1) {
    text = std::to_string(term.coefficient) + "*";
  }
  for (size_t i = 0; i < term.factors.size(); ++i) text += (i ? "*" : "") + term.factors[i]->text;
  return text;
}

bool add_checked(int64_t a, int64_t b, int64_t& out) { return !__builtin_add_overflow(a, b, &out); }
bool mul_checked(int64_t a, int64_t b, int64_t& out) { return !__builtin_mul_overflow(a, b, &out); }
int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

// Bounds on the size of an expression: a model cannot make one grow without end.
constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxFactors = 32;
constexpr size_t kMaxText = 2048;

// A name that cannot be taken for an expression or a number.
bool is_plain(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !(letter(name[0]) || name[0] == '/')) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '/'; });
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

// Adds a term to a list sorted by factors. False on overflow.
bool accumulate(std::vector<Dim::Term>& terms, const Dim::Term& term) {
  auto at =
      std::lower_bound(terms.begin(), terms.end(), term, [](const Dim::Term& x, const Dim::Term& y) { return less(x.factors, y.factors); });
  if (at == terms.end() || !same(at->factors, term.factors)) {
    terms.insert(at, term);
    return terms.size() <= kMaxTerms;
  }
  if (!add_checked(at->coefficient, term.coefficient, at->coefficient)) return false;
  if (at->coefficient == 0) terms.erase(at);
  return true;
}

}  // namespace

std::optional<int64_t> evaluate(Dim::Function function, int64_t a, int64_t b) {
  using Function = Dim::Function;
  if (function == Function::min) return std::min(a, b);
  if (function == Function::max) return std::max(a, b);
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) return std::nullopt;
  switch (function) {
    case Function::floor_div: return floor_div(a, b);
    case Function::ceil_div: return floor_div(a, b) + (a % b != 0);
    default: return a - floor_div(a, b) * b;
  }
}

Dim Dim::symbol(std::string name) {
  auto atom = std::make_shared<Atom>();
  atom->text = is_plain(name) ? name : quoted(name);
  atom->name = std::move(name);
  Polynomial p;
  p.terms.push_back({1, {std::move(atom)}});
  return from(std::move(p));
}

Dim Dim::from(Polynomial p) {
  if (p.terms.empty()) return Dim(p.constant);
  for (const Term& term : p.terms) {
    std::string text = term_text(term);
    if (!p.text.empty()) {
      p.text += text[0] == '-' ? " - " : " + ";
      if (text[0] == '-') text.erase(0, 1);
    }
    p.text += text;
  }
  if (p.constant > 0) p.text += " + " + std::to_string(p.constant);
  if (p.constant < 0) p.text += " - " + std::to_string(p.constant).substr(1);
  if (p.text.size() > kMaxText) return {};
  Dim dim;
  dim.kind_ = Kind::expression;
  dim.expression_ = std::make_shared<const Polynomial>(std::move(p));
  return dim;
}

Dim::Polynomial Dim::polynomial() const {
  Polynomial p;
  if (kind_ == Kind::expression) {
    p.constant = expression_->constant;
    p.terms = expression_->terms;
  } else {
    p.constant = value_;
  }
  return p;
}

std::string_view Dim::symbol_name() const {
  if (kind_ != Kind::expression || expression_->constant != 0 || expression_->terms.size() != 1) return {};
  const Term& term = expression_->terms[0];
  return term.coefficient == 1 && term.factors.size() == 1 ? std::string_view(term.factors[0]->name) : std::string_view();
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  Dim::Polynomial p = a.polynomial();
  const Dim::Polynomial q = b.polynomial();
  if (!add_checked(p.constant, q.constant, p.constant)) return {};
  for (const Dim::Term& term : q.terms) {
    if (!accumulate(p.terms, term)) return {};
  }
  return Dim::from(std::move(p));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant(0) || b.is_constant(0)) return Dim(0);
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_constant(1)) return b;
  if (b.is_constant(1)) return a;
  const Dim::Polynomial p = a.polynomial(), q = b.polynomial();
  Dim::Polynomial result;
  if (!mul_checked(p.constant, q.constant, result.constant)) return {};
  const auto add_scaled = [&](const std::vector<Dim::Term>& terms, int64_t factor) {
    if (factor == 0) return true;
    for (Dim::Term term : terms) {
      if (!mul_checked(term.coefficient, factor, term.coefficient) || !accumulate(result.terms, term)) return false;
    }
    return true;
  };
  if (!add_scaled(p.terms, q.constant) || !add_scaled(q.terms, p.constant)) return {};
  for (const Dim::Term& x : p.terms) {
    for (const Dim::Term& y : q.terms) {
      Dim::Term term;
      if (!mul_checked(x.coefficient, y.coefficient, term.coefficient)) return {};
      term.factors.resize(x.factors.size() + y.factors.size());
      std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(), term.factors.begin(),
                 [](const auto& u, const auto& v) { return u->text < v->text; });
      if (term.factors.size() > kMaxFactors || !accumulate(result.terms, term)) return {};
    }
  }
  return Dim::from(std::move(result));
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Dim::Kind::unknown: return false;
    case Dim::Kind::constant: return a.value_ == b.value_;
    default: return a.expression_ == b.expression_ || a.expression_->text == b.expression_->text;
  }
}

namespace {

// max(a, min(a, c)) is a, and min(a, max(a, c)) too.
bool absorbs(Dim::Function function, const Dim& a, const Dim& b) {
  if (b.terms().size() != 1 || b.constant_term() != 0) return false;
  const Dim::Term& term = b.terms()[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return false;
  const Dim::Atom& inner = *term.factors[0];
  const auto opposite = function == Dim::Function::min ? Dim::Function::max : Dim::Function::min;
  return inner.name.empty() && inner.function == opposite && (inner.a == a || inner.b == a);
}

}  // namespace

Dim Dim::apply(Function function, const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_constant() && b.is_constant()) {
    const auto value = rh::evaluate(function, a.value_, b.value_);
    return value ? Dim(*value) : Dim();
  }
  const bool division = function == Function::floor_div || function == Function::ceil_div;
  if (division && b.is_constant(1)) return a;
  if ((function == Function::min || function == Function::max) && a == b) return a;
  if (division && a == b) return Dim(1);
  if ((division || function == Function::mod) && b.is_constant() && b.value_ > 0) {
    Polynomial p = a.polynomial();
    const int64_t divisor = b.value_;
    if (std::all_of(p.terms.begin(), p.terms.end(), [&](const Term& t) { return t.coefficient % divisor == 0; })) {
      const int64_t constant = *rh::evaluate(function, p.constant, divisor);
      if (function == Function::mod) return Dim(constant);
      for (Term& t : p.terms) t.coefficient /= divisor;
      p.constant = constant;
      return from(std::move(p));
    }
  }
  if (division && b.kind_ == Kind::expression) {
    if (Dim quotient = divide_exactly(a, b); !quotient.is_unknown()) return quotient;
  }
  const bool extremum = function == Function::min || function == Function::max;
  if (extremum && absorbs(function, a, b)) return a;
  if (extremum && absorbs(function, b, a)) return b;
  if (extremum && !b.is_constant() && (a.is_constant() || b.to_string() < a.to_string())) return apply(function, b, a);
  auto atom = std::make_shared<Atom>();
  atom->function = function;
  atom->a = a;
  atom->b = b;
  static constexpr const char* kNames[] = {"floor_div", "ceil_div", "mod", "min", "max"};
  atom->text = std::string(kNames[static_cast<int>(function)]) + "(" + a.to_string() + ", " + b.to_string() + ")";
  if (atom->text.size() > kMaxText) return {};
  Polynomial p;
  p.terms.push_back({1, {std::move(atom)}});
  return from(std::move(p));
}

Dim Dim::divide_exactly(const Dim& a, const Dim& b) {
  // By one term only: what a Reshape with -1 needs, (batch * heads * seq) / (batch * heads).
  const Polynomial p = a.polynomial(), q = b.polynomial();
  if (q.terms.size() != 1 || q.constant != 0 || p.constant != 0) return {};
  const Term& divisor = q.terms[0];
  Polynomial result;
  for (Term term : p.terms) {
    if (divisor.coefficient == -1) {
      if (!mul_checked(term.coefficient, -1, term.coefficient)) return {};
    } else {
      if (term.coefficient % divisor.coefficient != 0) return {};
      term.coefficient /= divisor.coefficient;
    }
    for (const auto& factor : divisor.factors) {
      auto at = std::find_if(term.factors.begin(), term.factors.end(), [&](const auto& f) { return f->text == factor->text; });
      if (at == term.factors.end()) return {};
      term.factors.erase(at);
    }
    if (term.factors.empty()) {
      if (!add_checked(result.constant, term.coefficient, result.constant)) return {};
    } else if (!accumulate(result.terms, term)) {
      return {};
    }
  }
  return from(std::move(result));
}

std::optional<int64_t> Dim::evaluate(FunctionRef<std::optional<int64_t>(std::string_view)> lookup) const {
  if (kind_ == Kind::unknown) return std::nullopt;
  if (kind_ == Kind::constant) return value_;
  int64_t sum = expression_->constant;
  for (const Term& term : expression_->terms) {
    int64_t product = term.coefficient;
    for (const auto& factor : term.factors) {
      std::optional<int64_t> value;
      if (!factor->name.empty()) {
        value = lookup(factor->name);
      } else {
        const auto a = factor->a.evaluate(lookup), b = factor->b.evaluate(lookup);
        if (a && b) value = rh::evaluate(factor->function, *a, *b);
      }
      if (!value || !mul_checked(product, *value, product)) return std::nullopt;
    }
    if (!add_checked(sum, product, sum)) return std::nullopt;
  }
  return sum;
}

void Dim::for_each_symbol(FunctionRef<void(std::string_view)> visit) const {
  for (const Term& term : terms()) {
    for (const auto& factor : term.factors) {
      if (!factor->name.empty()) {
        visit(factor->name);
      } else {
        factor->a.for_each_symbol(visit);
        factor->b.for_each_symbol(visit);
      }
    }
  }
}

namespace {

constinit const std::vector<Dim::Term> kNoTerms;

}  // namespace

const std::vector<Dim::Term>& Dim::terms() const { return kind_ == Kind::expression ? expression_->terms : kNoTerms; }

int64_t Dim::constant_term() const { return kind_ == Kind::expression ? expression_->constant : value_; }

std::string Dim::to_string() const {
  switch (kind_) {
    case Kind::unknown: return "?";
    case Kind::constant: return std::to_string(value_);
    default: return expression_->text;
  }
}

namespace {
constexpr std::string_view kDigits = "0123456789";
}

bool is_computed_symbol(std::string_view name) {
  return name.starts_with("_s") && name.size() > 2 && name.find_first_not_of(kDigits, 2) == name.npos;
}

bool is_generated_symbol(std::string_view name) {
  if (is_computed_symbol(name)) return true;
  if (!name.starts_with("_input")) return false;
  const size_t separator = name.find_first_not_of(kDigits, 6);
  return separator != name.npos && separator > 6 && name[separator] == '_' && separator + 1 < name.size() &&
         name.find_first_not_of(kDigits, separator + 1) == name.npos;
}

std::string to_string(const SymbolicShape& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + dims[i].to_string();
  return text + "]";
}

Dim product(const SymbolicShape& dims, size_t first, size_t last) {
  Dim result(1);
  for (size_t i = first; i < last; ++i) result = result * dims[i];
  return result;
}

}  // namespace rh
