#include "onnx/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/shared_bytes.h"
#include "graph/constant_addresses.h"
#include "onnx/located.h"
#include "onnx/proto.h"
#include "tensor/extent.h"
#include "tensor/sparse.h"

namespace rh::onnx {

namespace {

/// The typed fields of TensorProto, in the order of Fields::counts.
enum Storage : int { kFloatData, kInt32Data, kStringData, kInt64Data, kDoubleData, kUint64Data, kStorages };
constexpr uint32_t kStorageField[kStorages] = {field::tensor::float_data, field::tensor::int32_data,  field::tensor::string_data,
                                               field::tensor::int64_data, field::tensor::double_data, field::tensor::uint64_data};
constexpr const char* kStorageName[kStorages] = {"float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data"};

Storage storage_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64: return kFloatData;
    case DType::float64:
    case DType::complex128: return kDoubleData;
    case DType::int64: return kInt64Data;
    case DType::uint32:
    case DType::uint64: return kUint64Data;
    case DType::string: return kStringData;
    default: return kInt32Data;
  }
}

/// Entries of the typed field for so many elements.
int64_t entries_of(DType dtype, int64_t elements) {
  switch (bits_of(dtype)) {
    case 2: return elements / 4 + (elements % 4 != 0);
    case 4: return elements / 2 + (elements % 2 != 0);
    default: break;
  }
  if (dtype != DType::complex64 && dtype != DType::complex128) return elements;
  return elements > std::numeric_limits<int64_t>::max() / 2 ? elements : 2 * elements;
}

int64_t count_varints(std::string_view packed) {
  return std::count_if(packed.begin(), packed.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

/// Calls each(value as uint64_t) for every entry of a varint field, packed or not.
template <typename Each>
void for_each_varint(std::string_view message, uint32_t number, Each&& each) {
  Wire wire = wire_of(message);
  while (wire.next()) {
    if (wire.tag_and_type() == varint(number)) {
      each(wire.get_uint64());
    } else if (wire.tag_and_type() == length_delimited(number)) {
      for_each_packed(content(wire), each);
    } else {
      wire.skip();
    }
  }
}

/// Copies every entry of a fixed-width field, packed or not.
template <typename T>
void copy_fixed(std::string_view message, uint32_t number, void* to) {
  char* position = static_cast<char*>(to);
  Wire wire = wire_of(message);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(number)) {
      const std::string_view packed = content(wire);
      if (!packed.empty()) std::memcpy(position, packed.data(), packed.size());
      position += packed.size();
    } else if (sizeof(T) == 4 && wire.tag_and_type() == fixed32(number)) {
      const uint32_t bits = wire.get_fixed32();
      std::memcpy(position, &bits, sizeof(bits));
      position += sizeof(bits);
    } else if (sizeof(T) == 8 && wire.tag_and_type() == fixed64(number)) {
      const uint64_t bits = wire.get_fixed64();
      std::memcpy(position, &bits, sizeof(bits));
      position += sizeof(bits);
    } else {
      wire.skip();
    }
  }
}

/// Copies every entry of a varint field as a T. Of narrow types the bits may be those of a number with a sign or of one without: 255 is the
/// int8 -1.
template <typename T>
void copy_varints(std::string_view message, uint32_t number, void* to) {
  constexpr int64_t kEnd = sizeof(T) < sizeof(int64_t) ? int64_t{1} << (8 * sizeof(T) % 64) : 0;
  T* position = static_cast<T*>(to);
  for_each_varint(message, number, [&](uint64_t bits) {
    const int64_t value = static_cast<int64_t>(bits);
    if (kEnd != 0 && (value < -kEnd || value >= kEnd)) {
      fail(ErrorCode::fail, "an element is {}, expected a number of {} bits", value, 8 * sizeof(T));
    }
    *position++ = static_cast<T>(value);
  });
}

void copy_int32_data(DType dtype, std::string_view message, Tensor& tensor) {
  constexpr uint32_t number = field::tensor::int32_data;
  void* to = tensor.raw();
  switch (dtype) {
    case DType::int32: return copy_varints<int32_t>(message, number, to);
    case DType::int16: return copy_varints<int16_t>(message, number, to);
    case DType::int8: return copy_varints<int8_t>(message, number, to);
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16: return copy_varints<uint16_t>(message, number, to);
    case DType::boolean: {
      bool* position = static_cast<bool*>(to);
      return for_each_varint(message, number, [&](uint64_t bits) { *position++ = bits != 0; });
    }
    case DType::float6e2m3:
    case DType::float6e3m2: {
      std::memset(to, 0, tensor.bytes());
      int64_t i = 0;
      return for_each_varint(message, number, [&](uint64_t bits) {
        if (bits > 63) fail(ErrorCode::fail, "an element is {}, expected a 6-bit code in [0, 63]", bits);
        set_packed_code(to, 6, i++, static_cast<uint8_t>(bits));
      });
    }
    default: return copy_varints<uint8_t>(message, number, to);
  }
}

void copy_strings(std::string_view message, Tensor& tensor) {
  std::string* position = tensor.data<std::string>();
  Wire wire = wire_of(message);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(field::tensor::string_data)) {
      *position++ = content(wire);
    } else {
      wire.skip();
    }
  }
}

/// Bits after the last element of a packed tensor are zero, so that equal tensors have equal bytes.
void clear_padding(Tensor& tensor) {
  const int bits = bits_of(tensor.dtype());
  if (bits == 0 || bits >= 8 || tensor.bytes() == 0) return;
  const int used = static_cast<int>((tensor.elements() % 8) * bits % 8);
  if (used != 0) static_cast<uint8_t*>(tensor.raw())[tensor.bytes() - 1] &= static_cast<uint8_t>((1u << used) - 1);
}

uint64_t parse_number(std::string_view key, std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::fail, "'{}' of the external data is '{}', expected a number of bytes", key, text);
  }
  return value;
}

/// A copy of its own shares its memory with equal ones; others look into files or buffers already.
Tensor shared(Tensor tensor) {
  if (tensor.owner().use_count() != 1 || tensor.dtype() == DType::string || !tensor.device().is_host()) return tensor;
  const size_t bytes = tensor.bytes();
  const auto memory = share_bytes(std::shared_ptr<const void>(tensor.owner(), tensor.raw()), bytes);
  return Tensor(tensor.dtype(), tensor.shape(), const_cast<void*>(memory.get()), memory);
}

}  // namespace

Tensor page_tensor(DType dtype, Shape shape) {
  if (dtype == DType::string) return Tensor(dtype, std::move(shape));
  const auto memory = std::make_shared<PageMemory>(std::max<size_t>(1, bytes_of(dtype, shape.elements())));
  return Tensor(dtype, std::move(shape), memory->data(), memory);
}

struct TensorReader::Fields {
  std::string_view name;
  Shape dims;
  int64_t data_type = 0;
  bool has_raw = false, external = false;
  std::string_view raw;
  std::string_view location;
  uint64_t offset = 0;
  bool has_length = false;
  uint64_t length = 0;
  int64_t counts[kStorages] = {};

  void add_external_entry(std::string_view message);
  void count(Storage storage, Wire& wire);
};

void TensorReader::Fields::add_external_entry(std::string_view message) {
  std::string_view key, value;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::entry::key): key = content(wire); break;
      case length_delimited(field::entry::value): value = content(wire); break;
      default: wire.skip();
    }
  }
  if (key == "location") location = value;
  if (key == "offset") offset = parse_number(key, value);
  if (key == "length") {
    length = parse_number(key, value);
    has_length = length != 0;  // 0 is none given, as in ONNX Runtime
  }
}

void TensorReader::Fields::count(Storage storage, Wire& wire) {
  if (wire.wire_type() != protozero::pbf_wire_type::length_delimited || storage == kStringData) {
    ++counts[storage];
    return wire.skip();
  }
  const std::string_view packed = content(wire);
  if (storage == kFloatData || storage == kDoubleData) {
    const size_t width = storage == kFloatData ? 4 : 8;
    if (packed.size() % width != 0)
      fail(ErrorCode::fail, "{} has {} bytes, expected a multiple of {}", kStorageName[storage], packed.size(), width);
    counts[storage] += static_cast<int64_t>(packed.size() / width);
  } else {
    counts[storage] += count_varints(packed);
  }
}

TensorReader::Fields TensorReader::parse(std::string_view message) const {
  Fields fields;
  Wire wire = wire_of(message);
  const auto add_dim = [&](uint64_t dim) {
    if (fields.dims.size() == kMaxRank) fail(ErrorCode::fail, "the tensor has more than {} dimensions", kMaxRank);
    fields.dims.push_back(static_cast<int64_t>(dim));
  };
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case varint(field::tensor::dims): add_dim(wire.get_uint64()); break;
      case length_delimited(field::tensor::dims): for_each_packed(content(wire), add_dim); break;
      case varint(field::tensor::data_type): fields.data_type = wire.get_int64(); break;
      case length_delimited(field::tensor::name): fields.name = content(wire); break;
      case length_delimited(field::tensor::raw_data):
        fields.raw = content(wire);
        fields.has_raw = true;
        break;
      case length_delimited(field::tensor::external_data): fields.add_external_entry(content(wire)); break;
      case varint(field::tensor::data_location): fields.external = wire.get_int64() == 1; break;
      case length_delimited(field::tensor::float_data):
      case fixed32(field::tensor::float_data): fields.count(kFloatData, wire); break;
      case length_delimited(field::tensor::double_data):
      case fixed64(field::tensor::double_data): fields.count(kDoubleData, wire); break;
      case length_delimited(field::tensor::int32_data):
      case varint(field::tensor::int32_data): fields.count(kInt32Data, wire); break;
      case length_delimited(field::tensor::int64_data):
      case varint(field::tensor::int64_data): fields.count(kInt64Data, wire); break;
      case length_delimited(field::tensor::uint64_data):
      case varint(field::tensor::uint64_data): fields.count(kUint64Data, wire); break;
      case length_delimited(field::tensor::string_data): fields.count(kStringData, wire); break;
      default: wire.skip();
    }
  }
  return fields;
}

Tensor TensorReader::read(std::string_view message, std::string_view* name, std::optional<ExternalLocation>* location,
                          Alignment alignment) {
  std::string_view tensor_name;
  return located([&] { return Where{.file = {}, .node = {}, .op = {}, .tensor = std::string(tensor_name)}; },
                 [&] {
                   const Fields fields = parse(message);
                   tensor_name = fields.name;
                   if (name) *name = fields.name;
                   Tensor tensor = read_fields(fields, message, alignment);
                   if (location && fields.external) {
                     *location = ExternalLocation{std::string(fields.location), static_cast<int64_t>(fields.offset), tensor.bytes()};
                   }
                   return buffer_.constant ? shared(std::move(tensor)) : tensor;
                 });
}

Tensor TensorReader::read_fields(const Fields& fields, std::string_view message, Alignment alignment) {
  if (!is_known(static_cast<int>(std::clamp<int64_t>(fields.data_type, -1, kDTypeCount)))) {
    fail(ErrorCode::fail, "the tensor has element type {}, expected a number from 1 to {} (TensorProto.DataType)", fields.data_type,
         kDTypeCount - 1);
  }
  const DType dtype = static_cast<DType>(fields.data_type);
  const int64_t elements = checked_elements(fields.dims);
  const size_t bytes = bytes_of(dtype, elements);
  if (bytes >= std::numeric_limits<size_t>::max() / 2 || extent(fields.dims) > kMostElements)
    fail(ErrorCode::fail, "the shape is {}, too large to address", fields.dims.to_string());
  if (fields.external) return read_external(fields, dtype, fields.dims, bytes);

  const Storage storage = storage_of(dtype);
  // Raw data count where there are others beside them.
  if ((!fields.raw.empty() || (fields.has_raw && bytes == 0)) && dtype != DType::string) {
    if (fields.raw.size() != bytes) {
      fail(ErrorCode::fail, "raw_data has {} bytes, expected {} for {}{}", fields.raw.size(), bytes, to_string(dtype),
           fields.dims.to_string());
    }
    return read_raw(dtype, fields.dims, fields.raw, alignment);
  }
  const int64_t typed = fields.counts[storage], entries = entries_of(dtype, elements);
  for (int i = 0; i < kStorages; ++i) {
    if (i != storage && fields.counts[i] != 0 && typed == 0 && entries != 0) {
      fail(ErrorCode::fail, "a tensor of type {} has its elements in {}, expected them in {} or raw_data", to_string(dtype),
           kStorageName[i], kStorageName[storage]);
    }
  }
  if (fields.has_raw && typed == 0 && elements != 0) {
    if (dtype == DType::string) fail(ErrorCode::fail, "a tensor of strings has raw_data, expected string_data");
    fail(ErrorCode::fail, "raw_data has 0 bytes, expected {} for {}{}", bytes, to_string(dtype), fields.dims.to_string());
  }
  if (typed != entries) {
    fail(ErrorCode::fail, "{} has {} entries, expected {} for {}{}", kStorageName[storage], typed, entries, to_string(dtype),
         fields.dims.to_string());
  }
  Tensor tensor = page_tensor(dtype, fields.dims);
  switch (storage) {
    case kFloatData: copy_fixed<float>(message, kStorageField[storage], tensor.raw()); break;
    case kDoubleData: copy_fixed<double>(message, kStorageField[storage], tensor.raw()); break;
    case kInt64Data: copy_varints<int64_t>(message, kStorageField[storage], tensor.raw()); break;
    case kUint64Data:
      if (dtype == DType::uint32) {
        copy_varints<uint32_t>(message, kStorageField[storage], tensor.raw());
      } else {
        copy_varints<uint64_t>(message, kStorageField[storage], tensor.raw());
      }
      break;
    case kStringData: copy_strings(message, tensor); break;
    default: copy_int32_data(dtype, message, tensor);
  }
  clear_padding(tensor);
  return tensor;
}

Tensor TensorReader::read_external(const Fields& fields, DType dtype, Shape shape, size_t bytes) {
  if (dtype == DType::string) fail(ErrorCode::fail, "a tensor of strings has external data, expected string_data");
  if (const Value* given = external_ ? external_->value_for(fields.name) : nullptr) {
    if (given->is_tensor() && given->tensor().dtype() == dtype && given->tensor().shape() == shape) return given->tensor();
    fail(ErrorCode::invalid_argument, "the value given for it is {}, expected {}{} as in the model",
         given->is_tensor() ? std::string(to_string(given->tensor().dtype())) + given->tensor().shape().to_string() : "no tensor",
         to_string(dtype), shape.to_string());
  }
  if (!external_) fail(ErrorCode::fail, "the data is in the external file '{}', expected it in the message", fields.location);
  if (fields.has_length && fields.length != bytes) {
    fail(ErrorCode::fail, "the external data has length {}, expected {} bytes for {}{}", fields.length, bytes, to_string(dtype),
         shape.to_string());
  }
  Tensor tensor = external_->read(dtype, std::move(shape), fields.location, fields.offset, bytes);
  if (dtype != DType::boolean) return tensor;
  Tensor normalized(dtype, tensor.shape());
  std::transform(tensor.data<uint8_t>(), tensor.data<uint8_t>() + bytes, normalized.data<uint8_t>(),
                 [](uint8_t byte) { return byte != 0; });
  return normalized;
}

bool TensorReader::is_inside(std::string_view raw) const {
  return raw.data() >= buffer_.bytes.data() && raw.data() + raw.size() <= buffer_.bytes.data() + buffer_.bytes.size();
}

Tensor TensorReader::read_raw(DType dtype, Shape shape, std::string_view raw, Alignment alignment) const {
  const bool in_place = buffer_.in_place && is_inside(raw) && raw.size() >= kInPlaceBytes && dtype != DType::boolean && bits_of(dtype) >= 8;
  const bool any_address = (buffer_.tables_in_place || buffer_.weights_in_place) && alignment == Alignment::any;
  if (in_place && (any_address || is_aligned_for(dtype, reinterpret_cast<uintptr_t>(raw.data())))) {
    return Tensor(dtype, std::move(shape), const_cast<char*>(raw.data()), buffer_.owner);
  }
  return copy(dtype, std::move(shape), raw);
}

void TensorReader::align_read(Graph& graph) const {
  const auto copied = [&](const Tensor& tensor) {
    return copy(tensor.dtype(), tensor.shape(), {static_cast<const char*>(tensor.raw()), tensor.bytes()});
  };
  align_constants(graph, copied, [&](const Graph& of, ValueId id) {
    return (buffer_.tables_in_place && is_row_table(of, id)) || (buffer_.weights_in_place && is_weights(of, id));
  });
}

Tensor TensorReader::copy(DType dtype, Shape shape, std::string_view raw) const {
  Tensor tensor = page_tensor(dtype, std::move(shape));
  if (dtype == DType::boolean) {
    std::transform(raw.begin(), raw.end(), tensor.data<uint8_t>(), [](char byte) { return byte != 0; });
  } else if (buffer_.file && is_inside(raw) && raw.size() >= kInPlaceBytes) {
    // Reading, instead of copying from the mapping, keeps the file's pages out of the process's memory.
    buffer_.file->read(static_cast<uint64_t>(raw.data() - buffer_.bytes.data()), tensor.raw(), raw.size());
  } else if (!raw.empty()) {
    std::memcpy(tensor.raw(), raw.data(), raw.size());
  }
  clear_padding(tensor);
  return tensor;
}

}  // namespace rh::onnx
