// Attributes of nodes: made by callers, read by plugins and custom operators.
#include <cstring>

#include "abi/graph_view.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

std::string_view name_of(OrtOpAttrType type) {
  constexpr std::string_view names[] = {"UNDEFINED", "INT", "INTS", "FLOAT", "FLOATS", "STRING", "STRINGS", "GRAPH", "TENSOR"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

template <typename T>
std::vector<T> numbers(const void* data, size_t count) {
  const auto* first = static_cast<const T*>(data);
  return {first, first + count};
}

Attribute::Payload payload_of(const void* data, int length, OrtOpAttrType type) {
  if (length < 0) fail(ErrorCode::invalid_argument, "argument 'len' is {}, expected at least 0", length);
  const auto count = static_cast<size_t>(length);
  const bool is_list = type == ORT_OP_ATTR_INTS || type == ORT_OP_ATTR_FLOATS || type == ORT_OP_ATTR_STRINGS || type == ORT_OP_ATTR_STRING;
  checked_array(data, is_list ? count : 1, "data");
  switch (type) {
    case ORT_OP_ATTR_INT: return *static_cast<const int64_t*>(data);
    case ORT_OP_ATTR_FLOAT: return *static_cast<const float*>(data);
    case ORT_OP_ATTR_INTS: return numbers<int64_t>(data, count);
    case ORT_OP_ATTR_FLOATS: return numbers<float>(data, count);
    case ORT_OP_ATTR_STRING: return std::string(static_cast<const char*>(data), count);
    case ORT_OP_ATTR_STRINGS: {
      std::vector<std::string> strings;
      for (size_t i = 0; i < count; ++i) strings.emplace_back(&checked(static_cast<const char* const*>(data)[i], "data[i]"));
      return strings;
    }
    case ORT_OP_ATTR_TENSOR: {
      const Value& value = static_cast<const OrtValue*>(data)->value;
      if (!value.is_tensor()) fail(ErrorCode::invalid_argument, "the value of a tensor attribute is no tensor");
      return value.tensor();
    }
    default: fail(ErrorCode::invalid_argument, "argument 'type' is {}, expected INT(S), FLOAT(S), STRING(S) or TENSOR", name_of(type));
  }
}

/// Copies `bytes` bytes where they have room; says how many there are in any case. Nothing is thrown for want of room: a plugin asks each
/// list for its length so, thousands of times a model.
Status read_bytes(const void* from, size_t bytes, void* to, size_t room, size_t& out) {
  out = bytes;
  if (room < bytes) return error_status(ErrorCode::invalid_argument, "argument 'len' is {} bytes, expected at least {}", room, bytes);
  if (bytes > 0) std::memcpy(&checked(static_cast<char*>(to), "data"), from, bytes);
  return {};
}

/// The content of the kind asked for. Throws Error{invalid_argument} where the attribute has another.
template <typename T>
const T& content(const OrtOpAttr& attribute, OrtOpAttrType type) {
  const T* value = attribute.attribute.get<T>();
  if (!value) {
    fail(ErrorCode::invalid_argument, "attribute '{}' is of type {}, it was read as {}", attribute.attribute.name,
         name_of(attribute.type()), name_of(type));
  }
  return *value;
}

/// A list; an attribute of another kind reads as an empty one.
template <typename T>
Status read_list(const OrtOpAttr& attribute, void* to, size_t room, size_t& out) {
  const auto* values = attribute.attribute.get<std::vector<T>>();
  return read_bytes(values ? values->data() : nullptr, values ? values->size() * sizeof(T) : 0, to, room, out);
}

/// Strings one after the other, each with its null.
Status read_strings(const OrtOpAttr& attribute, void* to, size_t room, size_t& out) {
  std::string text;
  if (const auto* strings = attribute.attribute.get<std::vector<std::string>>()) {
    for (const std::string& one : *strings) text.append(one.c_str(), one.size() + 1);
  }
  return read_bytes(text.data(), text.size(), to, room, out);
}

Status read(const OrtOpAttr& attribute, OrtOpAttrType type, void* to, size_t room, size_t& out) {
  switch (type) {
    case ORT_OP_ATTR_INT: return read_bytes(&content<int64_t>(attribute, type), sizeof(int64_t), to, room, out);
    case ORT_OP_ATTR_FLOAT: return read_bytes(&content<float>(attribute, type), sizeof(float), to, room, out);
    case ORT_OP_ATTR_INTS: return read_list<int64_t>(attribute, to, room, out);
    case ORT_OP_ATTR_FLOATS: return read_list<float>(attribute, to, room, out);
    case ORT_OP_ATTR_STRING: {
      const std::string& text = content<std::string>(attribute, type);
      return read_bytes(text.data(), text.size(), to, room, out);
    }
    case ORT_OP_ATTR_STRINGS: return read_strings(attribute, to, room, out);
    default: fail(ErrorCode::invalid_argument, "argument 'type' is {}, expected INT(S), FLOAT(S) or STRING(S)", name_of(type));
  }
}

}  // namespace

OrtStatus* ORT_API_CALL CreateOpAttr(const char* name, const void* data, int length, OrtOpAttrType type, OrtOpAttr** out) {
  return guard([&] {
    OrtOpAttr*& result = checked(out, "op_attr");
    result = new OrtOpAttr{{&checked(name, "name"), payload_of(data, length, type)}};
  });
}

void ORT_API_CALL ReleaseOpAttr(OrtOpAttr* attribute) { delete attribute; }

OrtStatus* ORT_API_CALL ReadOpAttr(const OrtOpAttr* attribute, OrtOpAttrType type, void* data, size_t length, size_t* out) {
  return guard([&] {
    size_t& bytes = checked(out, "out");
    return read(checked(attribute, "op_attr"), type, data, length, bytes);
  });
}

OrtStatus* ORT_API_CALL OpAttr_GetType(const OrtOpAttr* attribute, OrtOpAttrType* out) {
  return guard([&] { checked(out, "type") = checked(attribute, "attribute").type(); });
}

OrtStatus* ORT_API_CALL OpAttr_GetName(const OrtOpAttr* attribute, const char** out) {
  return guard([&] { checked(out, "name") = checked(attribute, "attribute").attribute.name.c_str(); });
}

OrtStatus* ORT_API_CALL OpAttr_GetTensorAttributeAsOrtValue(const OrtOpAttr* attribute, OrtValue** out) {
  return guard([&] {
    OrtValue*& result = checked(out, "attr_tensor");
    result = nullptr;
    result = new OrtValue(content<Tensor>(checked(attribute, "attribute"), ORT_OP_ATTR_TENSOR));
  });
}

}  // namespace rh::capi
