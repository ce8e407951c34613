#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace rh {

/// Bytes in the FlatBuffers format, little-endian, of which nothing is believed: what lies outside throws Error{fail}, and so does data
/// whose parts refer to each other so often that reading it takes far longer than its size tells.
class FlatBuffer {
 public:
  class Table;

  /// `what` names the data in errors: "LoRA adapter".
  FlatBuffer(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what), left_(kLeastWork + kWorkAByte * bytes.size()) {}

  /// Whether the bytes carry this identifier, of four letters.
  static bool has_identifier(std::string_view bytes, std::string_view identifier) {
    return bytes.size() >= 8 && bytes.substr(4, 4) == identifier;
  }
  Table root() const;

 private:
  static constexpr size_t kLeastWork = size_t{4} << 20, kWorkAByte = 16;

  [[noreturn]] void damaged() const { fail(ErrorCode::fail, "{}: the data is truncated or damaged", what_); }
  std::string_view take(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) damaged();
    return bytes_.substr(at, size);
  }
  template <typename T>
  T read(size_t at) const {
    T value;
    std::memcpy(&value, take(at, sizeof(T)).data(), sizeof(T));
    return value;
  }
  size_t follow(size_t at) const { return at + read<uint32_t>(at); }
  /// The elements of the vector or string there, each of so many bytes.
  std::string_view elements(size_t at, size_t bytes_each) const {
    const std::string_view found = take(at + 4, size_t{read<uint32_t>(at)} * bytes_each);
    spend(found.size());
    return found;
  }
  void spend(size_t work) const {
    if (work + sizeof(uint32_t) > left_) damaged();
    left_ -= work + sizeof(uint32_t);
  }

  std::string_view bytes_, what_;
  mutable size_t left_;
};

/// One table of the buffer, which outlives it. Fields go by their place in the schema; one that is left out has its default, which for
/// texts and lists is the empty one.
class FlatBuffer::Table {
 public:
  template <typename T>
  T number(int field, T otherwise = 0) const {
    const size_t at = place(field);
    return at == 0 ? otherwise : buffer_->read<T>(at);
  }
  bool has(int field) const { return place(field) != 0; }
  std::string_view text(int field) const { return bytes(field); }
  /// The elements of a list of bytes, where they lie.
  std::string_view bytes(int field) const {
    const size_t at = place(field);
    return at == 0 ? std::string_view() : buffer_->elements(buffer_->follow(at), 1);
  }
  template <typename T>
  std::vector<T> numbers(int field) const {
    static_assert(std::is_arithmetic_v<T>);
    const size_t at = place(field);
    if (at == 0) return {};
    const std::string_view found = buffer_->elements(buffer_->follow(at), sizeof(T));
    std::vector<T> list(found.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), found.data(), found.size());
    return list;
  }
  /// The table that a field refers to; fails where it is left out.
  Table table(int field) const {
    const size_t at = place(field);
    if (at == 0) buffer_->damaged();
    buffer_->spend(sizeof(uint32_t));
    return {*buffer_, buffer_->follow(at)};
  }
  std::vector<Table> tables(int field) const {
    return list<Table>(field, [&](size_t at) { return Table(*buffer_, at); });
  }
  std::vector<std::string_view> texts(int field) const {
    return list<std::string_view>(field, [&](size_t at) { return buffer_->elements(at, 1); });
  }

 private:
  friend class FlatBuffer;
  Table(const FlatBuffer& buffer, size_t at) : buffer_(&buffer), at_(at) {}

  /// Where the field lies; 0 where it is left out.
  size_t place(int field) const {
    const int64_t offsets = static_cast<int64_t>(at_) - buffer_->read<int32_t>(at_);
    if (offsets < 0) buffer_->damaged();
    const size_t list = static_cast<size_t>(offsets), entry = 4 + 2 * static_cast<size_t>(field);
    if (entry + 2 > buffer_->read<uint16_t>(list)) return 0;
    const uint16_t offset = buffer_->read<uint16_t>(list + entry);
    return offset == 0 ? 0 : at_ + offset;
  }

  template <typename T, typename Make>
  std::vector<T> list(int field, Make&& make) const {
    const size_t at = place(field);
    if (at == 0) return {};
    const size_t start = buffer_->follow(at), count = buffer_->elements(start, sizeof(uint32_t)).size() / sizeof(uint32_t);
    std::vector<T> made;
    made.reserve(count);
    for (size_t i = 0; i < count; ++i) made.push_back(make(buffer_->follow(start + 4 + 4 * i)));
    return made;
  }

  const FlatBuffer* buffer_;
  size_t at_;
};

inline FlatBuffer::Table FlatBuffer::root() const { return {*this, follow(0)}; }

}  // namespace rh
