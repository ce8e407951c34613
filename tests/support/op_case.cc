#include "support/op_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "base/cpu_features.h"
#include "onnx/writer.h"
#include "ops/inference.h"
#include "ops/schema.h"
#include "providers/cpu/kernel.h"
#include "support/stock.h"

namespace rh::test {

Input Input::as(DType type) const {
  Input copy = *this;
  copy.dtype = type;
  return copy;
}

Input Input::constant() const {
  Input copy = *this;
  copy.is_constant = true;
  return copy;
}

Input normal(Shape shape) { return {.shape = std::move(shape)}; }
Input uniform(Shape shape, double low, double high) {
  return {.shape = std::move(shape), .fill = Input::Fill::uniform, .low = low, .high = high};
}
Input values(Shape shape, std::vector<double> numbers) {
  return {.shape = std::move(shape), .fill = Input::Fill::values, .values = std::move(numbers)};
}
Input strings(Shape shape, std::vector<std::string> texts) {
  return {.shape = std::move(shape), .fill = Input::Fill::strings, .strings = std::move(texts), .dtype = DType::string};
}
Input ints(std::vector<int64_t> numbers) {
  Input input = values({static_cast<int64_t>(numbers.size())}, std::vector<double>(numbers.begin(), numbers.end())).as(DType::int64);
  input.integers = std::move(numbers);
  return input;
}
Input absent() { return {.fill = Input::Fill::absent}; }

Attribute attr(std::string name, int value) { return {std::move(name), int64_t{value}}; }
Attribute attr(std::string name, float value) { return {std::move(name), value}; }
Attribute attr(std::string name, const char* value) { return {std::move(name), std::string(value)}; }
Attribute attr(std::string name, std::vector<int64_t> value) { return {std::move(name), std::move(value)}; }
Attribute attr(std::string name, std::vector<float> value) { return {std::move(name), std::move(value)}; }
Attribute attr(std::string name, std::vector<std::string> value) { return {std::move(name), std::move(value)}; }
Attribute attr(std::string name, Tensor value) { return {std::move(name), std::move(value)}; }

OpCase contributed(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails,
                   int outputs, double tolerance) {
  return {1, std::move(attributes), std::move(inputs), purpose, std::move(fails), outputs, tolerance, "com.microsoft"};
}

namespace {

template <typename T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_unsigned_v<T>) {
    return value < 0 ? static_cast<T>(static_cast<int64_t>(value)) : static_cast<T>(value);  // -1 is the largest value
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

void set_element(Tensor& tensor, int64_t i, double value) {
  const int bits = bits_of(tensor.dtype());
  if (bits < 8) {
    set_packed_code(tensor.raw(), bits, i, static_cast<uint8_t>(static_cast<int64_t>(value) & ((1 << bits) - 1)));
  } else if (tensor.dtype() == DType::complex64) {
    tensor.data<std::complex<float>>()[i] = {static_cast<float>(value), static_cast<float>(-value / 2)};
  } else if (tensor.dtype() == DType::complex128) {
    tensor.data<std::complex<double>>()[i] = {value, -value / 2};
  } else {
    dispatch_or_throw<RealTypes>(tensor.dtype(), "test data", [&]<typename T>() { tensor.data<T>()[i] = from_double<T>(value); });
  }
}

Tensor make_tensor(const Input& input, DType dtype, std::mt19937& random) {
  Tensor tensor(dtype, input.shape);
  if (dtype == DType::string) {
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      tensor.data<std::string>()[i] =
          input.fill == Input::Fill::strings ? input.strings.at(static_cast<size_t>(i)) : "s" + std::to_string(random() % 10);
    }
    return tensor;
  }
  if (tensor.bytes() > 0) std::memset(tensor.raw(), 0, tensor.bytes());
  std::normal_distribution<double> normal_distribution;
  std::uniform_real_distribution<double> uniform_distribution(input.low, input.high);
  const bool whole = is_integer(dtype) || dtype == DType::boolean;
  if (dtype == DType::int64 && !input.integers.empty()) return Tensor::from<int64_t>(input.shape, input.integers);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    double value = 0;
    if (input.fill == Input::Fill::values) {
      value = input.values.at(static_cast<size_t>(i));
    } else if (input.fill == Input::Fill::uniform) {
      value = uniform_distribution(random);
      if (whole) value = std::floor(value);
    } else {
      value = normal_distribution(random);
      if (dtype == DType::boolean) {
        value = value > 0;
      } else if (whole) {
        value = std::floor(std::fabs(value) * 3);
        if (is_signed_integer(dtype) && random() % 2) value = -value;
      }
    }
    set_element(tensor, i, value);
  }
  return tensor;
}

// Same numbers in another type.
Value converted(const Value& value, DType from, DType to) {
  if (value.empty() || !value.is_tensor() || value.tensor().dtype() != from) return value;
  Tensor result(to, value.tensor().shape());
  for (int64_t i = 0; i < result.elements(); ++i) set_element(result, i, element_as_double(value.tensor().view(), i));
  return result;
}

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64: return 1e-12;
    case DType::float32: return 2e-6;
    case DType::float16: return 2e-3;
    case DType::bfloat16: return 1.6e-2;
    default: return is_floating(dtype) ? 0.13 : 0;
  }
}

// Empty where the outputs agree, else the first difference.
std::string difference(const Tensor& actual, const Tensor& expected, double tolerance) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("element type {}, expected {}", to_string(actual.dtype()), to_string(expected.dtype()));
  if (!(actual.shape() == expected.shape()))
    return fmt::format("shape {}, expected {}", actual.shape().to_string(), expected.shape().to_string());
  if (is_integer(actual.dtype()) && bits_of(actual.dtype()) == 8 && tolerance >= 1) {  // quantised numbers: so many steps apart
    for (int64_t i = 0; i < actual.elements(); ++i) {
      const int64_t a = element_as_int(actual.view(), i), e = element_as_int(expected.view(), i);
      if (static_cast<double>(std::abs(a - e)) > tolerance) return fmt::format("element {} is {}, expected {}", i, a, e);
    }
    return "";
  }
  const bool exact = !(is_floating(actual.dtype()) && bits_of(actual.dtype()) >= 8) || tolerance < 0;
  if (bits_of(actual.dtype()) > 0 && bits_of(actual.dtype()) < 8) {  // bits after the last element do not count
    for (int64_t i = 0; i < actual.elements(); ++i) {
      if (packed_code(actual.raw(), bits_of(actual.dtype()), i) != packed_code(expected.raw(), bits_of(actual.dtype()), i))
        return fmt::format("element {} is {}, expected {}", i, element_as_double(actual.view(), i), element_as_double(expected.view(), i));
    }
    return "";
  }
  if (exact)
    return identical(actual.view(), expected.view()) ? "" : fmt::format("values differ (exact comparison), {} elements", actual.elements());
  double largest = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double e = element_as_double(expected.view(), i);
    if (std::isfinite(e)) largest = std::max(largest, std::fabs(e));
  }
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = element_as_double(actual.view(), i), e = element_as_double(expected.view(), i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    if (!(std::fabs(a - e) <= tolerance * std::max(largest, 1e-30)))
      return fmt::format("element {} is {}, expected {} (largest {})", i, a, e, largest);
  }
  return "";
}

// Whether the newest version of the operator may have this type where the case leaves the type open.
bool standard_allows(const char* op_type, const OpCase& c, DType dtype) {
  const ops::OpSchema* schema = ops::find_schema(c.domain, op_type, ops::latest_opset(c.domain));
  for (size_t i = 0; schema && i < c.inputs.size(); ++i) {
    const ops::Port* port = schema->input(static_cast<int>(i));
    const bool open = c.inputs[i].dtype == DType::undefined && c.inputs[i].fill != Input::Fill::absent;
    if (open && port && !port->allowed->allows_tensor(dtype)) return false;
  }
  return true;
}

class CaseRun {
 public:
  CaseRun(const char* op_type, const OpCase& c, DType dtype, unsigned seed) : case_(c), dtype_(dtype) {
    std::mt19937 random(seed);
    for (const Input& input : c.inputs) {
      inputs_.push_back(input.fill == Input::Fill::absent
                            ? Value()
                            : Value(make_tensor(input, input.dtype == DType::undefined ? dtype : input.dtype, random)));
    }
    op_type_ = c.op_type ? c.op_type : op_type;
  }

  void run() {
    if (!case_.fails.empty()) {
      expect_failure();
      return;
    }
    Model model = build(inputs_, nullptr);
    infer_types(*model.graph);
    const std::vector<Value> outputs = evaluate(model, {});
    check_inference(*model.graph, outputs, [](std::string_view) { return std::optional<int64_t>(); });
    check_symbolic_inference(outputs);
    compare(outputs, evaluate(model, Parallel(ThreadPool::process_wide().get(), 2)), -1, "two threads against one");
    if (!case_.expected.empty() && dtype_ != DType::string) compare_with_expected(outputs);
    const bool compared = compare_with_stock(model, outputs);
    const bool narrow = is_floating(dtype_) && dtype_ != DType::float64 && bits_of(dtype_) >= 8;
    if (narrow && !compared) compare_with_wider(outputs);
  }

 private:
  double tolerance(DType dtype) const {
    return case_.tolerance > 0 ? std::max(case_.tolerance, default_tolerance(dtype)) : default_tolerance(dtype);
  }

  // `symbols`: dimensions of inputs become symbols, whose values it gets.
  Model build(const std::vector<Value>& inputs, std::map<std::string, int64_t, std::less<>>* symbols) const {
    Model model;
    model.ir_version = 10;
    model.graph->name = "case";
    model.graph->opset_imports[""] = case_.opset;
    if (*case_.domain) model.graph->opset_imports = {{"", 21}, {case_.domain, case_.opset}};
    Node node;
    node.op_type = op_type_;
    node.domain = case_.domain;
    node.attributes = case_.attributes;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      if (inputs[i].empty()) {
        node.inputs.push_back(kNoValue);
      } else if (case_.inputs[i].is_constant) {
        node.inputs.push_back(model.graph->add_initializer(name, inputs[i]));
      } else {
        const Tensor& tensor = inputs[i].tensor();
        SymbolicShape dims(tensor.shape().begin(), tensor.shape().end());
        for (size_t k = 0; symbols && k < dims.size(); ++k) {
          const std::string symbol = name + "_" + std::to_string(k);
          symbols->emplace(symbol, tensor.shape()[k]);
          dims[k] = Dim::symbol(symbol);
        }
        node.inputs.push_back(model.graph->add_input(name, ValueType::tensor(tensor.dtype(), std::move(dims))));
      }
    }
    for (int i = 0; i < case_.outputs; ++i) {
      if (std::ranges::count(case_.left_out, i) > 0) {
        node.outputs.push_back(kNoValue);
        continue;
      }
      node.outputs.push_back(model.graph->add_value("y" + std::to_string(i)));
      model.graph->add_output(node.outputs.back());
    }
    model.graph->add_node(std::move(node));
    return model;
  }

  std::vector<Value> evaluate(const Model& model, const Parallel& parallel) const {
    std::vector<Value> outputs = cpu::evaluate_node(*model.graph, model.graph->node(0), inputs_, parallel);
    int i = 0;
    std::erase_if(outputs, [&](const Value&) { return std::ranges::count(case_.left_out, i++) > 0; });
    return outputs;
  }

  void expect_failure() const {
    try {
      Model model = build(inputs_, nullptr);
      infer_types(*model.graph);
      evaluate(model, {});
      ADD_FAILURE() << "ran, expected an error";
    } catch (const Error& error) {
      for (const std::string& part : case_.fails) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "message: " << error.what() << "\nmisses: " << part;
      }
    }
  }

  template <typename Lookup>
  void check_inference(const Graph& graph, const std::vector<Value>& outputs, const Lookup& lookup) const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueType& type = graph.value(graph.outputs()[i]).type;
      if (!outputs[i].is_tensor()) continue;
      const Tensor& tensor = outputs[i].tensor();
      ASSERT_TRUE(type.is_tensor()) << "inference gives no type for output " << i;
      EXPECT_EQ(type.tensor().dtype, tensor.dtype()) << "inferred element type of output " << i;
      if (!type.tensor().has_rank()) continue;
      ASSERT_EQ(type.tensor().rank(), tensor.shape().rank()) << "inferred rank of output " << i << ": " << type.to_string();
      for (int k = 0; k < type.tensor().rank(); ++k) {
        const std::optional<int64_t> dim = (*type.tensor().dims)[k].evaluate(lookup);
        if (dim) {
          EXPECT_EQ(*dim, tensor.shape()[k]) << "inferred dimension " << k << " of output " << i << ": " << type.to_string();
        }
      }
    }
  }

  void check_symbolic_inference(const std::vector<Value>& outputs) const {
    std::map<std::string, int64_t, std::less<>> symbols;
    Model model = build(inputs_, &symbols);
    infer_types(*model.graph);
    check_inference(*model.graph, outputs, [&](std::string_view name) {
      const auto at = symbols.find(name);
      return at == symbols.end() ? std::optional<int64_t>() : at->second;
    });
  }

  void compare(const std::vector<Value>& actual, const std::vector<Value>& expected, double fixed_tolerance, const char* what) const {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      if (!actual[i].is_tensor() || !expected[i].is_tensor()) continue;
      const double allowed = fixed_tolerance != 0 ? fixed_tolerance : tolerance(dtype_);
      EXPECT_EQ(difference(actual[i].tensor(), expected[i].tensor(), allowed), "") << what << ", output " << i;
    }
  }

  void compare_with_expected(const std::vector<Value>& outputs) const {
    std::vector<Value> expected;
    std::mt19937 random;
    for (const Input& output : case_.expected) {
      expected.emplace_back(make_tensor(output, output.dtype == DType::undefined ? dtype_ : output.dtype, random));
    }
    compare(outputs, expected, 0, "against what is expected");
  }

  /// On processors without dot products of bytes the stock library adds up products by signed weights in 16 bits, which saturate.
  bool stock_saturates() const {
    static constexpr std::string_view kOperators[] = {"ConvInteger",   "DynamicQuantizeLSTM",  "DynamicQuantizeMatMul",
                                                      "MatMulInteger", "MatMulIntegerToFloat", "QAttention",
                                                      "QGemm",         "QLinearConv",          "QLinearMatMul"};
    const auto is_signed = [](const Value& value) { return value.is_tensor() && value.tensor().dtype() == DType::int8; };
    return !cpu_features().avx512_vnni && std::ranges::find(kOperators, op_type_) != std::ranges::end(kOperators) &&
           std::ranges::any_of(inputs_, is_signed);
  }

  bool compare_with_stock(const Model& model, const std::vector<Value>& outputs) const {
    const Stock* stock = Stock::get();
    if (!stock || case_.stock_is_wrong || stock_saturates() || (case_.opset < 7 && !*case_.domain) || bits_of(dtype_) == 6) return false;
    std::vector<std::string> input_names, output_names;
    std::vector<Value> fed;
    for (ValueId id : model.graph->inputs()) {
      const GraphValue& value = model.graph->value(id);
      input_names.push_back(value.name);
      fed.push_back(inputs_[static_cast<size_t>(std::stoi(value.name.substr(1)))]);
    }
    for (ValueId id : model.graph->outputs()) output_names.push_back(model.graph->value(id).name);
    const Stock::Result result = stock->run(onnx::write_model(model), input_names, fed, output_names);
    if (!result.status.ok()) {
      const bool lacks_it = result.status.code() == ErrorCode::not_implemented || result.status.code() == ErrorCode::invalid_graph ||
                            result.status.code() == ErrorCode::fail ||
                            result.status.message().find("not support") != std::string_view::npos ||
                            result.status.message().find("Unsupported data type") != std::string_view::npos;
      EXPECT_TRUE(lacks_it) << "the stock library refuses what runs here: " << result.status.message();
      return false;
    }
    compare(outputs, result.outputs, 0, "against the stock library");
    return true;
  }

  /// With float64, or with float where the operator does not take that.
  void compare_with_wider(const std::vector<Value>& outputs) const {
    const bool has_float64 = standard_allows(op_type_, case_, DType::float64);
    const DType type = has_float64 ? DType::float64 : DType::float32;
    if (type == dtype_ || !standard_allows(op_type_, case_, type)) return;
    CaseRun wide = *this;
    for (size_t i = 0; i < wide.inputs_.size(); ++i) {
      if (case_.inputs[i].dtype == DType::undefined) wide.inputs_[i] = converted(wide.inputs_[i], dtype_, type);
    }
    Model model = wide.build(wide.inputs_, nullptr);
    infer_types(*model.graph);
    if (!cpu::why_unsupported(NodeView(*model.graph, model.graph->node(0))).empty()) return;
    std::vector<Value> expected = wide.evaluate(model, {});
    for (size_t i = 0; i < expected.size(); ++i) {
      if (outputs[i].is_tensor() && outputs[i].tensor().dtype() == dtype_) expected[i] = converted(expected[i], type, dtype_);
    }
    compare(outputs, expected, 0, has_float64 ? "against float64" : "against float");
  }

  const OpCase& case_;
  DType dtype_;
  const char* op_type_;
  std::vector<Value> inputs_;
};

}  // namespace

void run_op_cases(const char* op_type, const std::vector<OpCase>& cases, DTypeSet types) {
  unsigned seed = 1;
  for (const OpCase& c : cases) {
    bool typed = false;
    for (const Input& input : c.inputs) typed |= input.dtype == DType::undefined && input.fill != Input::Fill::absent;
    bool first = true;
    for (int i = 1; i < kDTypeCount; ++i) {
      const DType dtype = static_cast<DType>(i);
      if (!types.contains(dtype) || !standard_allows(c.op_type ? c.op_type : op_type, c, dtype)) continue;
      if (!first && (!typed || !c.fails.empty())) break;  // the types make no difference
      first = false;
      SCOPED_TRACE(fmt::format("{}({}) {}: {}", c.op_type ? c.op_type : op_type, c.opset, to_string(dtype), c.purpose));
      try {
        CaseRun(op_type, c, dtype, seed++).run();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

}  // namespace rh::test
