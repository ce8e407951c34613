// The fields of onnx.proto that a small model needs, in protobuf's wire format.
#include "onnx_bytes.h"

#include <cstring>

namespace rh::cli {

namespace {

constexpr uint64_t kOpset = 21, kIrVersion = 10;

std::string varint(uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

std::string number(unsigned field, int64_t value) { return varint(field << 3) + varint(static_cast<uint64_t>(value)); }

std::string message(unsigned field, const std::string& bytes) { return varint(field << 3 | 2) + varint(bytes.size()) + bytes; }

/// An element type's number is the same in the C interface and in TensorProto.
std::string tensor(const std::string& name, const Contents& contents) {
  std::string out;
  for (const int64_t dim : contents.shape) out += number(1, dim);
  return out + number(2, contents.type) + message(8, name) + message(9, std::string(contents.bytes.begin(), contents.bytes.end()));
}

std::string value_of(int64_t value) { return number(3, value) + number(20, 2); }
std::string value_of(const std::string& value) { return message(4, value) + number(20, 3); }
std::string value_of(float value) {
  char bits[sizeof value];
  std::memcpy(bits, &value, sizeof value);
  return varint(2 << 3 | 5) + std::string(bits, sizeof bits) + number(20, 1);
}
std::string value_of(const std::vector<int64_t>& values) {
  std::string out;
  for (const int64_t value : values) out += number(8, value);
  return out + number(20, 7);
}

std::string node_bytes(const SmallModel::Node& node) {
  std::string out;
  for (const std::string& name : node.inputs) out += message(1, name);
  for (const std::string& name : node.outputs) out += message(2, name);
  out += message(3, node.name) + message(4, node.op_type);
  for (const auto& [name, value] : node.attributes) {
    out += message(5, message(1, name) + std::visit([](const auto& v) { return value_of(v); }, value));
  }
  return out;
}

std::string port_bytes(const SmallModel::Port& port) {
  std::string type = number(1, port.type);
  if (port.shape) {
    std::string dims;
    for (const int64_t dim : *port.shape) dims += message(1, number(1, dim));
    type += message(2, dims);
  }
  return message(1, port.name) + message(2, message(1, type));
}

}  // namespace

std::string SmallModel::bytes() const {
  std::string graph;
  for (const Node& node : nodes) graph += message(1, node_bytes(node));
  graph += message(2, "check");
  for (const auto& [name, contents] : initializers) graph += message(5, tensor(name, contents));
  for (const Port& port : inputs) graph += message(11, port_bytes(port));
  for (const Port& port : outputs) graph += message(12, port_bytes(port));
  return number(1, kIrVersion) + message(7, graph) + message(8, message(1, "") + number(2, kOpset));
}

}  // namespace rh::cli
