#include "graph/text_literal.h"

#include <bit>
#include <charconv>
#include <complex>
#include <cstring>

#include "tensor/dispatch.h"
#include "tensor/sparse.h"

namespace rh::text {

bool Reader::take(std::string_view punctuation) {
  if (!at(punctuation)) return false;
  lexer_.advance();
  return true;
}

bool Reader::take_word(std::string_view word) {
  if (!at_word(word)) return false;
  lexer_.advance();
  return true;
}

void Reader::expect(std::string_view punctuation) {
  if (!take(punctuation)) fail_expected("'" + std::string(punctuation) + "'");
}

void Reader::fail_expected(std::string_view what) const {
  const std::string found = at_end() ? "the end of the text" : "'" + std::string(token().text.substr(0, 40)) + "'";
  fail_here("expected " + std::string(what) + " but found " + found);
}

std::string Reader::name() {
  if (token().kind == TokenKind::string) return string_literal();
  if (token().kind != TokenKind::identifier) fail_expected("a name");
  std::string result(token().text);
  lexer_.advance();
  return result;
}

std::string Reader::string_literal() {
  if (token().kind != TokenKind::string) fail_expected("a string");
  std::string result = lexer_.unescape(token());
  lexer_.advance();
  return result;
}

int64_t Reader::integer(std::string_view what, bool negative) {
  std::string text = negative || take("-") ? "-" : "";
  if (token().kind != TokenKind::number) fail_expected(what);
  text += token().text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail_here("'" + text + "' is not a 64-bit integer");
  lexer_.advance();
  return value;
}

DType Reader::element_type() {
  const DType dtype = token().kind == TokenKind::identifier ? dtype_from_string(token().text) : DType::undefined;
  if (dtype == DType::undefined && !at_word("undefined")) fail_expected("a type");
  lexer_.advance();
  return dtype;
}

ValueType Reader::type() {
  const Nested nested(*this);
  if (take("?")) return {};
  const auto inside = [&] {
    expect("(");
    ValueType element = type();
    expect(")");
    return element;
  };
  if (take_word("sparse_tensor")) return ValueType::sparse(inside().tensor());
  if (take_word("seq")) return ValueType::sequence_of(inside());
  if (take_word("optional")) return ValueType::optional_of(inside());
  if (take_word("map")) {
    expect("(");
    const DType key = element_type();
    expect(",");
    ValueType value = type();
    expect(")");
    return ValueType::map_of(key, std::move(value));
  }
  if (take_word("opaque")) {
    expect("(");
    const std::string full = string_literal();
    expect(")");
    const size_t split = full.find("::");
    return split == full.npos ? ValueType::opaque("", full) : ValueType::opaque(full.substr(0, split), full.substr(split + 2));
  }
  TensorType tensor{element_type(), SymbolicShape{}};
  if (!take("[")) return tensor;
  if (take("...")) {
    tensor.dims.reset();
  } else if (!at("]")) {
    do tensor.dims->push_back(dim());
    while (take(","));
  }
  expect("]");
  return tensor;
}

Dim Reader::sum() {
  const Nested nested(*this);
  Dim result = product(take("-"));
  for (;;) {
    if (take("+")) {
      result = result + product(false);
    } else if (take("-")) {
      result = result + product(true);
    } else {
      return result;
    }
  }
}

// The sign is read with a number, for the least number there is has no counterpart.
Dim Reader::product(bool negative) {
  const bool is_number = token().kind == TokenKind::number;
  Dim result = is_number ? Dim(integer("a dimension", negative)) : factor();
  while (take("*")) result = result * factor();
  return negative && !is_number ? result * Dim(-1) : result;
}

Dim Reader::factor() {
  if (take("?")) return Dim::unknown();
  if (take("(")) {
    Dim inside = sum();
    expect(")");
    return inside;
  }
  if (token().kind == TokenKind::number) return Dim(integer("a dimension"));
  if (token().kind == TokenKind::identifier && lexer_.peek().text == "(") {
    static constexpr const char* kNames[] = {"floor_div", "ceil_div", "mod", "min", "max"};
    for (int i = 0; i < 5; ++i) {
      if (!take_word(kNames[i])) continue;
      expect("(");
      const Dim a = sum();
      expect(",");
      const Dim b = sum();
      expect(")");
      return Dim::apply(static_cast<Dim::Function>(i), a, b);
    }
    fail_expected("one of floor_div, ceil_div, mod, min, max");
  }
  if (token().kind != TokenKind::identifier && token().kind != TokenKind::string) fail_expected("a dimension");
  std::string symbol = name();
  if (symbol.empty()) fail_expected("the name of a dimension");
  return Dim::symbol(std::move(symbol));
}

Shape Reader::static_shape(const TensorType& type) {
  if (type.dtype == DType::undefined || !type.is_static())
    fail_here("a constant wants an element type and dimensions that are numbers, found " + type.to_string());
  Shape shape = type.shape();
  for (int64_t d : shape) {
    if (d < 0) fail_here(fmt::format("a dimension is {}, expected at least 0", d));
  }
  return shape;
}

// A number with its sign, or inf or nan.
std::string Reader::element_text() {
  std::string text = take("-") ? "-" : "";
  if (token().kind != TokenKind::number && !at_word("inf") && !at_word("nan")) fail_expected("a number");
  text += token().text;
  return text;
}

namespace {

bool set_packed(Tensor& tensor, int64_t index, const std::string& text) {
  const int bits = bits_of(tensor.dtype());
  if (is_integer(tensor.dtype())) {
    const bool is_signed = is_signed_integer(tensor.dtype());
    const int least = is_signed ? -(1 << (bits - 1)) : 0, most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    int value = 0;
    if (!parse_number(text, value) || value < least || value > most) return false;
    set_packed_code(tensor.raw(), bits, index, static_cast<uint8_t>(value & ((1 << bits) - 1)));
    return true;
  }
  float value = 0;
  if (!parse_number(text, value)) return false;
  const FloatFormat& format = tensor.dtype() == DType::float4e2m1   ? kFloat4E2M1Format
                              : tensor.dtype() == DType::float6e2m3 ? kFloat6E2M3Format
                                                                    : kFloat6E3M2Format;
  set_packed_code(tensor.raw(), bits, index, static_cast<uint8_t>(encode_float(value, format, Overflow::saturate)));
  return true;
}

}  // namespace

void Reader::set_element(Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::string) {
    tensor.data<std::string>()[index] = string_literal();
    return;
  }
  const std::string text = element_text();
  bool ok = false;
  if (bits_of(tensor.dtype()) < 8) {
    ok = set_packed(tensor, index, text);
  } else if (tensor.dtype() == DType::complex64) {
    ok = parse_number(text, tensor.data<float>()[index]);
  } else if (tensor.dtype() == DType::complex128) {
    ok = parse_number(text, tensor.data<double>()[index]);
  } else {
    dispatch_or_throw<RealTypes>(tensor.dtype(), "constant", [&]<typename T>() { ok = parse_number(text, tensor.data<T>()[index]); });
  }
  if (!ok) fail_here("'" + text + "' is not a number of type " + std::string(to_string(tensor.dtype())));
  lexer_.advance();
}

Tensor Reader::elements(const TensorType& type) {
  const Shape shape = static_shape(type);
  const bool is_complex = type.dtype == DType::complex64 || type.dtype == DType::complex128;
  expect("{");
  if (at("...")) fail_here("the elements were left out when this text was printed, expected all of them");
  const size_t start = token().offset;
  const int64_t written_bound = static_cast<int64_t>(lexer_.rest_length());  // each element takes a character at least
  const int64_t count = shape.elements();
  if (count > 0 && count * (is_complex ? 2 : 1) > written_bound) {
    // Only the uniform form can be meant: read its one element first.
    Tensor one(type.dtype, Shape{1});
    std::memset(one.raw(), 0, type.dtype == DType::string ? 0 : one.bytes());
    set_element(one, 0);
    expect(",");
    expect("...");
    expect("}");
    return uniform(one, shape, start);
  }
  Tensor tensor(type.dtype, shape);
  if (type.dtype != DType::string) std::memset(tensor.raw(), 0, tensor.bytes());
  const int64_t wanted = is_complex ? 2 * count : count;
  int64_t found = 0;
  while (!at("}")) {
    if (found > 0) expect(",");
    if (found == 1 && take("...")) {
      expect("}");
      return uniform(tensor, shape, start);
    }
    if (found == wanted) fail_here(fmt::format("too many elements, expected {}", wanted));
    set_element(tensor, found++);
  }
  if (found != wanted) fail_here(fmt::format("{} elements, expected {}", found, wanted));
  expect("}");
  return tensor;
}

Tensor Reader::uniform(const Tensor& one, const Shape& shape, size_t offset) {
  const DType dtype = one.dtype();
  if (dtype == DType::string || bits_of(dtype) < 8 || bits_of(dtype) > 64 || dtype == DType::complex64) {
    lexer_.fail_at(offset, "the form {x, ...} is for element types of whole bytes that are not strings or complex");
  }
  const size_t bytes = bytes_of(dtype, shape.elements());
  if (bytes > kMaxUniformBytes) lexer_.fail_at(offset, fmt::format("a constant of {} bytes, expected at most {}", bytes, kMaxUniformBytes));
  Tensor tensor(dtype, shape);
  const size_t size = static_cast<size_t>(bits_of(dtype)) / 8;
  for (size_t i = 0; i < bytes; i += size) std::memcpy(static_cast<char*>(tensor.raw()) + i, one.raw(), size);
  return tensor;
}

Tensor Reader::tensor() {
  if (take_word("undefined")) return {};
  const size_t start = token().offset;
  const ValueType declared = type();
  if (!declared.is_tensor()) lexer_.fail_at(start, "expected the type of a tensor, found " + declared.to_string());
  return elements(declared.tensor());
}

SparseTensor Reader::sparse_content(const TensorType& type) {
  const size_t start = token().offset;
  SparseTensor sparse;
  sparse.dtype = type.dtype;
  sparse.dense_shape = static_shape(type);
  using Format = SparseTensor::Format;
  if (take_word("coo")) {
    sparse.format = Format::coo;
  } else if (take_word("csr")) {
    sparse.format = Format::csr;
  } else if (take_word("block")) {
    sparse.format = Format::block;
  } else if (!take_word("undefined")) {
    fail_expected("one of coo, csr, block");
  }
  expect("(");
  sparse.values = tensor();
  expect(",");
  sparse.indices = tensor();
  if (sparse.format == Format::csr) {
    expect(",");
    sparse.outer_indices = tensor();
  }
  expect(")");
  try {
    if (sparse.format == Format::coo) check_coo(sparse);
  } catch (const Error& error) {
    lexer_.fail_at(start, error.message());
  }
  return sparse;
}

}  // namespace rh::text
