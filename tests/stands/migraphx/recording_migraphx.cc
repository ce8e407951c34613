// A stand-in of MIGraphX's C library: it writes down what reaches it, and fails where it is told to. It runs no model.
//   RH_MIGRAPHX_RECORD  the file to which a line is added for each call
//   RH_MIGRAPHX_FAULT   "<function>: <message>": that function fails with the message, on the standard error stream
//   RH_MIGRAPHX_FIRST   the number of the first type, bool: 1 as version 6 has it, or 2 as version 7 does
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Shape {
  int type = 0;
  std::vector<size_t> lengths, strides;
};
struct Value {
  std::string name;
  Shape shape;
  std::vector<std::string> symbols;  // by axis; empty: it has a size
};
struct Program {
  std::vector<Value> inputs, outputs;
};
struct Options {
  std::map<std::string, std::vector<size_t>> shapes;
  bool offload = false, tuned = false;
};

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void record(const std::string& line) {
  if (const char* path = environment("RH_MIGRAPHX_RECORD"); *path) std::ofstream(path, std::ios::app) << line << '\n';
}

int answer(std::string_view function) {
  const std::string_view fault = environment("RH_MIGRAPHX_FAULT");
  const size_t colon = fault.find(": ");
  if (colon == fault.npos || fault.substr(0, colon) != function) return 0;
  std::cerr << "migraphx_" << function << ": Error: src/somewhere/" << function << ".cpp:17: a_function: " << fault.substr(colon + 2)
            << std::endl;
  return 4;
}

/// Numbers of ONNX's types: MIGraphX has them in an order of its own.
int number_of(uint64_t onnx) {
  static const std::map<uint64_t, int> places = {{9, 0}, {10, 1}, {1, 2}, {11, 3},  {2, 4},   {3, 5},  {4, 6},
                                                 {5, 7}, {6, 8},  {7, 9}, {12, 10}, {13, 11}, {16, 15}};
  const char* first = environment("RH_MIGRAPHX_FIRST");
  const auto place = places.find(onnx);
  return place == places.end() ? 99 : place->second + (*first ? std::atoi(first) : 2);
}

/// Calls bytes(number, payload) for the fields with a length of a message in protobuf's form, and integer(number, value) for its integers.
template <typename Bytes, typename Integer>
void walk(std::string_view message, Bytes bytes, Integer integer) {
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < message.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.size()) {
    const uint64_t tag = varint();
    const auto number = static_cast<int>(tag >> 3);
    switch (tag & 7) {
      case 0: integer(number, varint()); break;
      case 1: at += 8; break;
      case 5: at += 4; break;
      default: {
        const uint64_t length = varint();
        bytes(number, message.substr(at, length));
        at += length;
      }
    }
  }
}
constexpr auto kNoInteger = [](int, uint64_t) {};

/// Of a ValueInfoProto.
Value value_of(std::string_view info) {
  Value value;
  const auto dim = [&](int, std::string_view bytes) {
    value.shape.lengths.push_back(0);
    value.symbols.emplace_back();
    walk(
        bytes,
        [&](int number, std::string_view name) {
          if (number == 2) value.symbols.back() = name;
        },
        [&](int number, uint64_t size) {
          if (number == 1) value.shape.lengths.back() = size;
        });
  };
  const auto tensor = [&](int, std::string_view bytes) {
    walk(
        bytes,
        [&](int number, std::string_view shape) {
          if (number == 2) walk(shape, dim, kNoInteger);
        },
        [&](int number, uint64_t type) {
          if (number == 1) value.shape.type = number_of(type);
        });
  };
  walk(
      info,
      [&](int number, std::string_view bytes) {
        if (number == 1) value.name = bytes;
        if (number == 2) walk(bytes, tensor, kNoInteger);
      },
      kNoInteger);
  return value;
}

void finish(Value& value, const std::map<std::string, size_t>& sizes) {
  Shape& shape = value.shape;
  for (size_t i = 0; i < value.symbols.size(); ++i) {
    if (const auto known = sizes.find(value.symbols[i]); known != sizes.end()) shape.lengths[i] = known->second;
  }
  if (shape.lengths.empty()) shape.lengths = {1};
  shape.strides.assign(shape.lengths.size(), 1);
  for (size_t i = shape.lengths.size() - 1; i-- > 0;) shape.strides[i] = shape.strides[i + 1] * shape.lengths[i + 1];
}

std::string text_of(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) {
    text += " " + value.name + "[";
    for (size_t i = 0; i < value.shape.lengths.size(); ++i) text += (i ? "," : "") + std::to_string(value.shape.lengths[i]);
    text += "]";
  }
  return text;
}

Program* parse(std::string_view model, const Options& options) {
  auto* program = new Program;
  const auto graph = [&](int number, std::string_view field) {
    if (number == 11) program->inputs.push_back(value_of(field));
    if (number == 12) program->outputs.push_back(value_of(field));
  };
  walk(
      model,
      [&](int number, std::string_view field) {
        if (number == 7) walk(field, graph, kNoInteger);
      },
      kNoInteger);
  std::map<std::string, size_t> sizes;
  for (const Value& input : program->inputs) {
    const auto given = options.shapes.find(input.name);
    for (size_t i = 0; given != options.shapes.end() && i < input.symbols.size(); ++i) {
      if (!input.symbols[i].empty()) sizes[input.symbols[i]] = given->second[i];
    }
  }
  for (auto* values : {&program->inputs, &program->outputs}) {
    for (Value& value : *values) finish(value, sizes);
  }
  return program;
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))

STAND_IN int migraphx_target_create(std::string** target, const char* name) {
  record(std::string("target ") + name);
  *target = new std::string(name);
  return answer("target_create");
}
STAND_IN int migraphx_target_destroy(std::string* target) { return delete target, 0; }
STAND_IN int migraphx_onnx_options_create(Options** options) { return *options = new Options, 0; }
STAND_IN int migraphx_onnx_options_destroy(Options* options) { return delete options, 0; }
STAND_IN int migraphx_onnx_options_set_input_parameter_shape(Options* options, const char* name, size_t* lengths, size_t count) {
  options->shapes[name].assign(lengths, lengths + count);
  return 0;
}
STAND_IN int migraphx_parse_onnx_buffer(Program** program, const void* data, size_t size, Options* options) {
  Program* parsed = parse({static_cast<const char*>(data), size}, *options);
  if (!parsed->inputs.empty() && parsed->inputs[0].name == "bool") return *program = parsed, 0;  // the types are asked for
  record("parse" + text_of(parsed->inputs) + " ->" + text_of(parsed->outputs));
  if (const int status = answer("parse_onnx_buffer")) return delete parsed, status;
  return *program = parsed, 0;
}
STAND_IN int migraphx_compile_options_create(Options** options) { return *options = new Options, 0; }
STAND_IN int migraphx_compile_options_destroy(Options* options) { return delete options, 0; }
STAND_IN int migraphx_compile_options_set_offload_copy(Options* options, bool value) { return options->offload = value, 0; }
STAND_IN int migraphx_compile_options_set_exhaustive_tune_flag(Options* options, bool value) { return options->tuned = value, 0; }
STAND_IN int migraphx_program_compile(Program*, std::string* target, Options* options) {
  record("compile " + *target + (options->offload ? " offload" : "") + (options->tuned ? " tuned" : ""));
  return answer("program_compile");
}
STAND_IN int migraphx_file_options_create(Options** options) { return *options = new Options, 0; }
STAND_IN int migraphx_file_options_destroy(Options* options) { return delete options, 0; }
/// What is saved: names, types and sizes.
STAND_IN int migraphx_save(Program* program, const char* path, Options*) {
  if (const int status = answer("save")) return status;
  std::ofstream file(path);
  for (const auto* values : {&program->inputs, &program->outputs}) {
    file << values->size() << ' ';
    for (const Value& value : *values) {
      file << value.name << ' ' << value.shape.type << ' ' << value.shape.lengths.size() << ' ';
      for (size_t length : value.shape.lengths) file << length << ' ';
    }
  }
  record("save");
  return 0;
}
STAND_IN int migraphx_load(Program** program, const char* path, Options*) {
  if (const int status = answer("load")) return status;
  std::ifstream file(path);
  auto* loaded = new Program;
  for (auto* values : {&loaded->inputs, &loaded->outputs}) {
    size_t count = 0, rank = 0;
    file >> count;
    values->resize(count);
    for (Value& value : *values) {
      file >> value.name >> value.shape.type >> rank;
      value.shape.lengths.resize(rank);
      for (size_t& length : value.shape.lengths) file >> length;
      finish(value, {});
    }
  }
  record("load");
  return *program = loaded, 0;
}
STAND_IN int migraphx_program_run(void**, Program*, void*) {
  if (const int status = answer("program_run")) return status;
  std::cerr << "the stand-in runs no model" << std::endl;
  return 4;
}
STAND_IN int migraphx_program_destroy(Program* program) { return delete program, 0; }
STAND_IN int migraphx_program_get_output_shapes(std::vector<Value>** shapes, Program* program) {
  return *shapes = new std::vector(program->outputs), 0;
}
STAND_IN int migraphx_shapes_destroy(std::vector<Value>* shapes) { return delete shapes, 0; }
STAND_IN int migraphx_shapes_size(size_t* size, std::vector<Value>* shapes) { return *size = shapes->size(), 0; }
STAND_IN int migraphx_shapes_get(const Shape** shape, std::vector<Value>* shapes, size_t index) {
  return *shape = &shapes->at(index).shape, 0;
}
STAND_IN int migraphx_program_get_parameter_shapes(std::vector<Value>** shapes, Program* program) {
  return *shapes = new std::vector(program->inputs), 0;
}
STAND_IN int migraphx_program_parameter_shapes_destroy(std::vector<Value>* shapes) { return delete shapes, 0; }
STAND_IN int migraphx_program_parameter_shapes_size(size_t* size, std::vector<Value>* shapes) { return *size = shapes->size(), 0; }
STAND_IN int migraphx_program_parameter_shapes_names(const char** names, std::vector<Value>* shapes) {
  for (size_t i = 0; i < shapes->size(); ++i) names[i] = (*shapes)[i].name.c_str();
  return 0;
}
STAND_IN int migraphx_program_parameter_shapes_get(const Shape** shape, std::vector<Value>* shapes, const char* name) {
  return *shape = &std::ranges::find(*shapes, std::string(name), &Value::name)->shape, 0;
}
STAND_IN int migraphx_shape_type(int* type, const Shape* shape) { return *type = shape->type, 0; }
STAND_IN int migraphx_shape_dynamic(bool* dynamic, const Shape*) { return *dynamic = false, 0; }
STAND_IN int migraphx_shape_lengths(const size_t** lengths, size_t* count, const Shape* shape) {
  return *lengths = shape->lengths.data(), *count = shape->lengths.size(), 0;
}
STAND_IN int migraphx_shape_strides(const size_t** strides, size_t* count, const Shape* shape) {
  return *strides = shape->strides.data(), *count = shape->strides.size(), 0;
}
STAND_IN int migraphx_program_parameters_create(int** parameters) { return *parameters = new int, 0; }
STAND_IN int migraphx_program_parameters_destroy(int* parameters) { return delete parameters, 0; }
STAND_IN int migraphx_program_parameters_add(int*, const char*, const void*) { return answer("program_parameters_add"); }
STAND_IN int migraphx_argument_create(int** argument, const Shape*, void*) { return *argument = new int, 0; }
STAND_IN int migraphx_argument_destroy(int* argument) { return delete argument, 0; }
STAND_IN int migraphx_argument_buffer(char**, const void*) { return 4; }
STAND_IN int migraphx_argument_shape(const Shape**, const void*) { return 4; }
STAND_IN int migraphx_arguments_get(const void**, void*, size_t) { return 4; }
STAND_IN int migraphx_arguments_size(size_t*, void*) { return 4; }
STAND_IN int migraphx_arguments_destroy(void*) { return 0; }
