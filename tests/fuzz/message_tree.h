#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rh::fuzz {

enum class FieldKind : uint8_t {
  integer,   ///< varint
  real,      ///< fixed32
  integers,  ///< varints, packed or not
  name,      ///< of a value: an edge where a node has it
  op_type,
  text,
  bytes,  ///< raw elements, packed floats
  message,
};

struct MessageKind;

struct FieldSchema {
  uint32_t number;
  FieldKind kind;
  const MessageKind* message = nullptr;  ///< of FieldKind::message
};

struct MessageKind {
  std::string_view name;
  std::vector<FieldSchema> fields;
};

/// ModelProto, with inputs of run_fuzz as TensorProto in field kInputField.
const MessageKind& model_kind();
const MessageKind& tensor_kind();
inline constexpr uint32_t kInputField = 4096;

struct Message;

/// One field as it stood on the wire.
struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;                    ///< the wire type: 0 varint, 1 fixed64, 2 bytes, 5 fixed32
  const FieldSchema* schema = nullptr;  ///< null: not one of the kind
  uint64_t value = 0;                   ///< of numbers
  std::string bytes;                    ///< of what has a length, unless it became a message or numbers
  std::vector<uint64_t> integers;       ///< of FieldKind::integers that were packed
  std::unique_ptr<Message> message;

  Field() = default;
  Field(const Field& other);
  Field(Field&&) = default;
  Field& operator=(Field other) {
    std::swap(number, other.number);
    std::swap(wire, other.wire);
    std::swap(schema, other.schema);
    std::swap(value, other.value);
    bytes.swap(other.bytes);
    integers.swap(other.integers);
    message.swap(other.message);
    return *this;
  }
  FieldKind kind() const { return schema ? schema->kind : FieldKind::bytes; }
};

struct Message {
  const MessageKind* kind = nullptr;
  std::vector<Field> fields;

  Field* find(uint32_t number);
};

/// Nothing where the bytes are not in wire format. What looks broken inside stays bytes.
std::optional<Message> parse(std::string_view bytes, const MessageKind& kind, int depth = 0);
std::string serialize(const Message& message);

}  // namespace rh::fuzz
