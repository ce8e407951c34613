#include "providers/coreml/mil.h"

#include <limits>
#include <protozero/pbf_writer.hpp>

#include "base/error.h"

namespace rh::coreml {

namespace {

using protozero::pbf_writer;

/// The wire format of Core ML's models: field numbers by message.
namespace field {
namespace model {
enum : uint32_t { specification_version = 1, description = 2, ml_program = 502 };
}
namespace description {
enum : uint32_t { input = 1, output = 10 };
}
namespace feature {
enum : uint32_t { name = 1, type = 3 };
}
namespace feature_type {
enum : uint32_t { multi_array = 5 };
}
namespace array {
enum : uint32_t { shape = 1, data_type = 2 };
}
namespace program {
enum : uint32_t { version = 1, functions = 2 };
}
namespace function {
enum : uint32_t { inputs = 1, opset = 2, blocks = 3 };
}
namespace block {
enum : uint32_t { outputs = 2, operations = 3 };
}
namespace operation {
enum : uint32_t { type = 1, inputs = 2, outputs = 3, attributes = 5 };
}
namespace entry {
enum : uint32_t { key = 1, value = 2 };
}
namespace argument {
enum : uint32_t { arguments = 1 };
}
namespace binding {
enum : uint32_t { name = 1 };
}
namespace named_type {
enum : uint32_t { name = 1, type = 2 };
}
namespace value_type {
enum : uint32_t { tensor = 1 };
}
namespace tensor_type {
enum : uint32_t { data_type = 1, rank = 2, dimensions = 3 };
}
namespace dimension {
enum : uint32_t { constant = 1 };
}
namespace constant {
enum : uint32_t { size = 1 };
}
namespace value {
enum : uint32_t { type = 2, immediate = 3, blob = 5 };
}
namespace immediate {
enum : uint32_t { tensor = 1 };
}
namespace tensor {
enum : uint32_t { floats = 1, ints = 2, bools = 3, strings = 4, bytes = 7 };
}
namespace repeated {
enum : uint32_t { values = 1 };
}
namespace blob {
enum : uint32_t { file = 1, offset = 2 };
}
}  // namespace field

constexpr int kSpecification = 6;  // macOS 12, iOS 15
constexpr std::string_view kOpset = "CoreML5";
constexpr int64_t kMostInline = 32;  // elements of floats that stand in the program itself

/// A message in its bytes.
template <typename Fill>
std::string message(Fill fill) {
  std::string bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

/// MIL's number of a type.
int32_t mil_number(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 1;
    case DType::string: return 2;
    case DType::float16: return 10;
    case DType::float32: return 11;
    case DType::int32: return 23;
    default: fail(ErrorCode::not_implemented, "Core ML's programs have no values of {}", to_string(dtype));
  }
}

std::string type_of(DType dtype, const Shape& shape) {
  return message([&](pbf_writer& type) {
    type.add_message(field::value_type::tensor, message([&](pbf_writer& tensor) {
                       tensor.add_enum(field::tensor_type::data_type, mil_number(dtype));
                       if (shape.rank() > 0) tensor.add_int64(field::tensor_type::rank, shape.rank());
                       for (const int64_t size : shape) {
                         tensor.add_message(field::tensor_type::dimensions, message([&](pbf_writer& dimension) {
                                              dimension.add_message(field::dimension::constant, message([&](pbf_writer& constant) {
                                                                      constant.add_uint64(field::constant::size,
                                                                                          static_cast<uint64_t>(size));
                                                                    }));
                                            }));
                       }
                     }));
  });
}

/// A value within the program; `kind` is that of a field of TensorValue, `values` a Repeated... message.
std::string immediate(DType dtype, const Shape& shape, uint32_t kind, const std::string& values) {
  return message([&](pbf_writer& value) {
    value.add_message(field::value::type, type_of(dtype, shape));
    value.add_message(field::value::immediate, message([&](pbf_writer& immediate) {
                        immediate.add_message(field::immediate::tensor,
                                              message([&](pbf_writer& tensor) { tensor.add_message(kind, values); }));
                      }));
  });
}

std::string text_value(std::string_view text) {
  return immediate(DType::string, {}, field::tensor::strings,
                   message([&](pbf_writer& strings) { strings.add_string(field::repeated::values, text.data(), text.size()); }));
}

std::string named_type(const std::string& name, DType dtype, const Shape& shape) {
  return message([&](pbf_writer& named) {
    named.add_string(field::named_type::name, name);
    named.add_message(field::named_type::type, type_of(dtype, shape));
  });
}

std::string map_entry(std::string_view key, const std::string& value) {
  return message([&](pbf_writer& entry) {
    entry.add_string(field::entry::key, key.data(), key.size());
    entry.add_message(field::entry::value, value);
  });
}

std::string argument(const Operand& operand) {
  return message([&](pbf_writer& argument) {
    for (const Mil& value : operand.values) {
      argument.add_message(field::argument::arguments,
                           message([&](pbf_writer& binding) { binding.add_string(field::binding::name, value.name); }));
    }
  });
}

std::string feature(const Feature& feature) {
  constexpr int32_t kFloat32 = 65568, kInt32 = 131104;
  const std::string array = message([&](pbf_writer& array) {
    array.add_packed_int64(field::array::shape, feature.shape.begin(), feature.shape.end());
    array.add_enum(field::array::data_type, feature.dtype == DType::float32 ? kFloat32 : kInt32);
  });
  return message([&](pbf_writer& described) {
    described.add_string(field::feature::name, feature.name);
    described.add_message(field::feature::type,
                          message([&](pbf_writer& type) { type.add_message(field::feature_type::multi_array, array); }));
  });
}

int32_t as_int32(int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    fail(ErrorCode::not_implemented, "the constant {} is beyond the 32 bits of Core ML's integers", value);
  }
  return static_cast<int32_t>(value);
}

std::string ints_value(const Shape& shape, std::span<const int32_t> values) {
  return immediate(DType::int32, shape, field::tensor::ints,
                   message([&](pbf_writer& ints) { ints.add_packed_int32(field::repeated::values, values.begin(), values.end()); }));
}

/// "float32" as casts name it.
std::string_view cast_name(DType dtype) {
  switch (dtype) {
    case DType::float16: return "fp16";
    case DType::float32: return "fp32";
    case DType::boolean: return "bool";
    default: return "int32";
  }
}

DType within(DType dtype) { return dtype == DType::int64 ? DType::int32 : dtype; }

}  // namespace

DType feature_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
    case DType::float32: return DType::float32;
    case DType::boolean:
    case DType::int32:
    case DType::int64: return DType::int32;
    default: fail(ErrorCode::not_implemented, "Core ML takes and gives no {}", to_string(dtype));
  }
}

std::string Program::fresh_name(std::string_view hint) { return fmt::format("{}_{}", hint, names_++); }

Mil Program::add_input(DType dtype, const Shape& shape) {
  const Feature feature{fmt::format("input_{}", inputs_.size()), feature_type(dtype), shape};
  inputs_.push_back(feature);
  return cast({feature.name, feature.dtype, shape}, within(dtype));
}

void Program::add_output(const Mil& value) {
  const Feature feature{fmt::format("output_{}", outputs_.size()), feature_type(value.dtype), value.shape};
  outputs_.push_back(feature);
  const bool changes = value.dtype != feature.dtype;
  Arguments arguments = {{"x", value}};
  if (changes) arguments.emplace_back("dtype", text(cast_name(feature.dtype)));
  ops(changes ? "cast" : "identity", arguments, {{feature.name, feature.dtype, value.shape}});
}

Mil Program::cast(const Mil& value, DType dtype) {
  if (value.dtype == dtype) return value;
  return op("cast", {{"x", value}, {"dtype", text(cast_name(dtype))}}, dtype, value.shape);
}

Mil Program::add_constant(DType dtype, const Shape& shape, const std::string& value) {
  const std::string name = fresh_name("const");
  operations_.push_back(message([&](pbf_writer& operation) {
    operation.add_string(field::operation::type, "const");
    operation.add_message(field::operation::outputs, named_type(name, dtype, shape));
    operation.add_message(field::operation::attributes, map_entry("val", value));
    operation.add_message(field::operation::attributes, map_entry("name", text_value(name)));
  }));
  return {name, dtype, shape};
}

Mil Program::add_small(DType dtype, const Shape& shape, const std::string& value) {
  const auto known = small_.find(value);
  if (known != small_.end()) return known->second;
  return small_[value] = add_constant(dtype, shape, value);
}

Mil Program::constant(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const auto count = static_cast<size_t>(tensor.elements());
  const auto bytes = [&] {
    return message(
        [&](pbf_writer& raw) { raw.add_bytes(field::repeated::values, static_cast<const char*>(tensor.raw()), tensor.bytes()); });
  };
  switch (tensor.dtype()) {
    case DType::float16:
    case DType::float32: {
      if (tensor.elements() > kMostInline) {
        const uint64_t offset = weights_.add(tensor);
        return add_constant(tensor.dtype(), shape, message([&](pbf_writer& value) {
                              value.add_message(field::value::type, type_of(tensor.dtype(), shape));
                              value.add_message(field::value::blob, message([&](pbf_writer& blob) {
                                                  blob.add_string(field::blob::file, "@model_path/weights/weight.bin");
                                                  blob.add_uint64(field::blob::offset, offset);
                                                }));
                            }));
      }
      if (tensor.dtype() == DType::float16)
        return add_small(DType::float16, shape, immediate(DType::float16, shape, field::tensor::bytes, bytes()));
      const float* first = tensor.data<float>();
      return add_small(DType::float32, shape, immediate(DType::float32, shape, field::tensor::floats, message([&](pbf_writer& floats) {
                                                          floats.add_packed_float(field::repeated::values, first, first + count);
                                                        })));
    }
    case DType::int32: return add_small(DType::int32, shape, ints_value(shape, tensor.span<int32_t>()));
    case DType::int64: {
      std::vector<int32_t> values;
      for (const int64_t value : tensor.span<int64_t>()) values.push_back(as_int32(value));
      return add_small(DType::int32, shape, ints_value(shape, values));
    }
    case DType::boolean: {
      const bool* first = tensor.data<bool>();
      return add_small(DType::boolean, shape, immediate(DType::boolean, shape, field::tensor::bools, message([&](pbf_writer& bools) {
                                                          bools.add_packed_bool(field::repeated::values, first, first + count);
                                                        })));
    }
    default: fail(ErrorCode::not_implemented, "Core ML's programs have no constants of {}", to_string(tensor.dtype()));
  }
}

Mil Program::ints(std::span<const int64_t> values) { return constant(Tensor::ints(values)); }
Mil Program::number(int64_t value) { return constant(Tensor::scalar<int64_t>(value)); }
Mil Program::flag(bool value) { return constant(Tensor::scalar(value)); }
Mil Program::text(std::string_view value) { return add_small(DType::string, {}, text_value(value)); }
Mil Program::real(double value, DType dtype) {
  if (dtype == DType::float16) return constant(Tensor::scalar(Float16(static_cast<float>(value))));
  return constant(Tensor::scalar(static_cast<float>(value)));
}

Mil Program::op(std::string_view type, const Arguments& arguments, DType dtype, const Shape& shape) {
  return ops(type, arguments, {{{}, dtype, shape}}).front();
}

std::vector<Mil> Program::ops(std::string_view type, const Arguments& arguments, std::vector<Mil> results) {
  for (Mil& result : results) {
    if (result.name.empty()) result.name = fresh_name(type);
  }
  operations_.push_back(message([&](pbf_writer& operation) {
    operation.add_string(field::operation::type, type.data(), type.size());
    for (const auto& [name, operand] : arguments) operation.add_message(field::operation::inputs, map_entry(name, argument(operand)));
    for (const Mil& result : results) operation.add_message(field::operation::outputs, named_type(result.name, result.dtype, result.shape));
    operation.add_message(field::operation::attributes, map_entry("name", text_value(results.front().name)));
  }));
  return results;
}

size_t Program::bytes() const {
  size_t sum = weights_.bytes();
  for (const std::string& operation : operations_) sum += operation.size();
  return sum;
}

std::string Program::write() const {
  const std::string block = message([&](pbf_writer& block) {
    for (const Feature& output : outputs_) block.add_string(field::block::outputs, output.name);
    for (const std::string& operation : operations_) block.add_message(field::block::operations, operation);
  });
  const std::string function = message([&](pbf_writer& function) {
    for (const Feature& input : inputs_) function.add_message(field::function::inputs, named_type(input.name, input.dtype, input.shape));
    function.add_string(field::function::opset, kOpset.data(), kOpset.size());
    function.add_message(field::function::blocks, map_entry(kOpset, block));
  });
  const std::string program = message([&](pbf_writer& program) {
    program.add_int64(field::program::version, 1);
    program.add_message(field::program::functions, map_entry("main", function));
  });
  const std::string description = message([&](pbf_writer& description) {
    for (const Feature& input : inputs_) description.add_message(field::description::input, feature(input));
    for (const Feature& output : outputs_) description.add_message(field::description::output, feature(output));
  });
  return message([&](pbf_writer& model) {
    model.add_int32(field::model::specification_version, kSpecification);
    model.add_message(field::model::description, description);
    model.add_message(field::model::ml_program, program);
  });
}

}  // namespace rh::coreml
