// A stand-in of OpenVINO's C library: it writes down what reaches it, and fails where it is told to. It runs no model.
//   RH_OPENVINO_RECORD   the file to which a line is added for each call
//   RH_OPENVINO_FAULT    "<function>: <message>": that function fails with the message
//   RH_OPENVINO_VERSION  what ov_get_openvino_version says, else 2026.4.1-stand-in
//   RH_OPENVINO_DEVICE   what the property FULL_DEVICE_NAME says
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Port {
  int type;
};
struct Model {
  std::vector<Port> inputs, outputs;
};
struct Dimension {
  int64_t least, most;
};
struct PartialShape {
  Dimension rank;
  Dimension* dims;
};
struct Shape {
  int64_t rank;
  int64_t* dims;
};
struct Version {
  const char *build_number, *description;
};

std::string g_message;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void record(const std::string& line) {
  if (const char* path = environment("RH_OPENVINO_RECORD"); *path) std::ofstream(path, std::ios::app) << line << '\n';
}

int answer(std::string_view function) {
  const std::string_view fault = environment("RH_OPENVINO_FAULT");
  const size_t colon = fault.find(": ");
  if (colon == fault.npos || fault.substr(0, colon) != function) return 0;
  g_message = fault.substr(colon + 2);
  return -1;
}

/// Calls visit(number, payload) for the fields with a length of a message in protobuf's form, and visit(number, value) for its integers.
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

/// The element type of a ValueInfoProto, by ONNX's number.
Port port_of(std::string_view info) {
  Port port{0};
  const auto none = [](int, uint64_t) {};
  const auto element = [&](int number, uint64_t value) { port.type = number == 1 ? static_cast<int>(value) : port.type; };
  const auto tensor = [&](int number, std::string_view bytes) {
    if (number == 1) walk(bytes, [](int, std::string_view) {}, element);
  };
  const auto type = [&](int number, std::string_view bytes) {
    if (number == 2) walk(bytes, tensor, none);
  };
  walk(info, type, none);
  return port;
}

/// The file whose mapping has the address; "memory" where none has.
std::string place_of(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &path) < 2) continue;
    if (address < begin || address >= end) continue;
    const std::string name = line.substr(static_cast<size_t>(path));
    return name.starts_with('/') ? name.substr(name.rfind('/') + 1) : "memory";
  }
  return "memory";
}

/// Of a TensorProto that stays in memory of the caller's: where that is.
void record_weight(std::string_view tensor) {
  std::string key, address;
  const auto none = [](int, uint64_t) {};
  const auto entry = [&](int number, std::string_view text) {
    if (number == 1) key = text;
    if (number == 2 && key == "offset") address = text;
  };
  walk(
      tensor,
      [&](int number, std::string_view field) {
        if (number == 13) walk(field, entry, none);
      },
      none);
  if (!address.empty()) record("weight in " + place_of(std::stoull(address)));
}

Model* model_of(std::string_view bytes) {
  auto* model = new Model;
  const auto none = [](int, uint64_t) {};
  const auto graph = [&](int number, std::string_view field) {
    if (number == 5) record_weight(field);
    if (number == 11) model->inputs.push_back(port_of(field));
    if (number == 12) model->outputs.push_back(port_of(field));
  };
  walk(
      bytes,
      [&](int number, std::string_view field) {
        if (number == 7) walk(field, graph, none);
      },
      none);
  return model;
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))

STAND_IN int ov_get_openvino_version(Version* version) {
  const char* said = environment("RH_OPENVINO_VERSION");
  *version = {*said ? said : "2026.4.1-stand-in", "stand-in"};
  return answer("ov_get_openvino_version");
}
STAND_IN void ov_version_free(Version*) {}
STAND_IN const char* ov_get_last_err_msg() { return g_message.c_str(); }
STAND_IN void ov_free(const char* text) { std::free(const_cast<char*>(text)); }
STAND_IN int ov_core_create(void** core) {
  *core = new int;
  return answer("ov_core_create");
}
STAND_IN void ov_core_free(void* core) { delete static_cast<int*>(core); }
STAND_IN int ov_core_set_property(const void*, const char* device, ...) {
  va_list list;
  va_start(list, device);
  const char* name = va_arg(list, const char*);
  const char* value = va_arg(list, const char*);
  va_end(list);
  record(std::string("set_property ") + device + " " + name + "=" + value);
  return answer("ov_core_set_property");
}
STAND_IN int ov_core_read_model_from_memory_buffer(const void*, const char* text, size_t length, const void*, Model** model) {
  if (const int status = answer("ov_core_read_model_from_memory_buffer")) return status;
  *model = model_of({text, length});
  record("read_model " + std::to_string((*model)->inputs.size()) + " " + std::to_string((*model)->outputs.size()));
  return 0;
}
STAND_IN int ov_core_compile_model(const void*, const Model* model, const char* device, size_t count, Model** compiled, ...) {
  std::string line = std::string("compile_model ") + device;
  va_list list;
  va_start(list, compiled);
  for (size_t i = 0; i < count; i += 2) {
    const char* name = va_arg(list, const char*);
    const char* value = va_arg(list, const char*);
    line += std::string(" ") + name + "=" + value;
  }
  va_end(list);
  record(line);
  if (const int status = answer("ov_core_compile_model")) return status;
  *compiled = new Model(*model);
  return 0;
}
/// What is exported: the types of inputs and outputs, as digits.
STAND_IN int ov_compiled_model_export_model(const Model* model, const char* path) {
  if (const int status = answer("ov_compiled_model_export_model")) return status;
  std::ofstream file(path, std::ios::binary);
  for (const auto* ports : {&model->inputs, &model->outputs}) {
    for (const Port& port : *ports) file << port.type << ' ';
    file << "; ";
  }
  record("export_model");
  return 0;
}
STAND_IN int ov_core_import_model(const void*, const char* bytes, size_t count, const char* device, Model** compiled) {
  if (const int status = answer("ov_core_import_model")) return status;
  std::istringstream text(std::string(bytes, count));
  auto* model = new Model;
  std::vector<Port>* ports = &model->inputs;
  for (std::string word; text >> word;) {
    if (word == ";") {
      ports = &model->outputs;
    } else {
      ports->push_back({std::atoi(word.c_str())});
    }
  }
  *compiled = model;
  record(std::string("import_model ") + device);
  return 0;
}
STAND_IN int ov_core_get_property(const void*, const char* device, const char* name, char** value) {
  const char* said = environment("RH_OPENVINO_DEVICE");
  const std::string text = std::string(name) == "FULL_DEVICE_NAME" ? (*said ? said : std::string("stand-in ") + device) : "FP32";
  *value = ::strdup(text.c_str());
  return 0;
}
STAND_IN void ov_model_free(Model* model) { delete model; }
STAND_IN int ov_model_reshape_by_port_indexes(const Model*, const size_t* places, const PartialShape* shapes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::string line = "reshape " + std::to_string(places[i]);
    for (int64_t axis = 0; axis < shapes[i].rank.most; ++axis) {
      line += " " + std::to_string(shapes[i].dims[axis].least) + ".." + std::to_string(shapes[i].dims[axis].most);
    }
    record(line);
  }
  return answer("ov_model_reshape_by_port_indexes");
}
STAND_IN void ov_compiled_model_free(Model* model) { delete model; }
STAND_IN int ov_compiled_model_inputs_size(const Model* model, size_t* size) { return *size = model->inputs.size(), 0; }
STAND_IN int ov_compiled_model_outputs_size(const Model* model, size_t* size) { return *size = model->outputs.size(), 0; }
STAND_IN int ov_compiled_model_input_by_index(const Model* model, size_t index, const Port** port) {
  return *port = &model->inputs.at(index), 0;
}
STAND_IN int ov_compiled_model_output_by_index(const Model* model, size_t index, const Port** port) {
  return *port = &model->outputs.at(index), 0;
}
STAND_IN int ov_compiled_model_set_property(const Model* model, ...) {
  va_list list;
  va_start(list, model);
  const char* name = va_arg(list, const char*);
  const char* value = va_arg(list, const char*);
  va_end(list);
  record(std::string("compiled_model_set_property ") + name + "=" + value);
  return answer("ov_compiled_model_set_property");
}
STAND_IN int ov_compiled_model_create_infer_request(const Model*, void** request) {
  *request = new int;
  return answer("ov_compiled_model_create_infer_request");
}
STAND_IN int ov_port_get_element_type(const Port* port, int* type) { return *type = port->type, 0; }
STAND_IN int ov_const_port_get_shape(const Port*, Shape*) { return -1; }
STAND_IN void ov_output_const_port_free(const Port*) {}
STAND_IN int ov_tensor_create_from_host_ptr(int, Shape, void*, void** tensor) {
  *tensor = new int;
  return answer("ov_tensor_create_from_host_ptr");
}
STAND_IN int ov_tensor_get_shape(const void*, Shape* shape) {
  *shape = {0, nullptr};
  return 0;
}
STAND_IN int ov_tensor_set_shape(void*, Shape) { return 0; }
STAND_IN int ov_tensor_data(const void*, void** data) { return *data = nullptr, 0; }
STAND_IN void ov_tensor_free(void* tensor) { delete static_cast<int*>(tensor); }
STAND_IN int ov_shape_free(Shape*) { return 0; }
STAND_IN void ov_infer_request_free(void* request) { delete static_cast<int*>(request); }
STAND_IN int ov_infer_request_set_input_tensor_by_index(void*, size_t, const void*) {
  return answer("ov_infer_request_set_input_tensor_by_index");
}
STAND_IN int ov_infer_request_set_output_tensor_by_index(void*, size_t, const void*) { return 0; }
STAND_IN int ov_infer_request_get_output_tensor_by_index(const void*, size_t, void** tensor) {
  *tensor = new int;
  return 0;
}
STAND_IN int ov_infer_request_infer(void*) {
  g_message = "the stand-in runs no model";
  const int told = answer("ov_infer_request_infer");
  return told ? told : -2;
}
STAND_IN int ov_infer_request_set_callback(void*, const void*) { return answer("ov_infer_request_set_callback"); }
STAND_IN int ov_infer_request_start_async(void*) {
  g_message = "the stand-in runs no model";
  const int told = answer("ov_infer_request_start_async");
  return told ? told : -2;
}
STAND_IN int ov_infer_request_wait(void*) { return 0; }
STAND_IN int ov_infer_request_cancel(void*) { return 0; }
