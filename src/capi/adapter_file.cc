#include "capi/adapter_file.h"

#include <cstring>
#include <unordered_set>

#include "abi/element_type.h"
#include "base/error.h"
#include "base/file.h"
#include "base/flat_buffer.h"
#include "base/unicode.h"

namespace rh::capi {

namespace {

/// The root is a table of the format's version, the versions of the adapter and the model, and a vector of parameters; each of these is a
/// table of a name, dimensions, an element type (a number of the C ABI) and the elements' bytes.
constexpr std::string_view kIdentifier = "TORT";
constexpr int kVersion = 0, kAdapterVersion = 1, kModelVersion = 2, kParameters = 3;  // fields of the root
constexpr int kName = 0, kDims = 1, kType = 2, kData = 3;                             // fields of a parameter
constexpr size_t kFieldBytes = 4;                                                     // of each field, in the tables that are written
constexpr size_t kDataAlignment = 8;
constexpr uint64_t kMostBytes = INT32_MAX;  // of a FlatBuffer

/// Whether these bytes are UTF-8 that a C string can hold.
bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    uint32_t character = 0;
    const size_t size = first_character(bytes, character);
    const bool surrogate = character >= 0xd800 && character <= 0xdfff;
    if (size == 0 || character == 0 || surrogate) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

// --- reading
using Table = FlatBuffer::Table;

std::string name_of(const Table& parameter, const std::string& source) {
  const std::string_view name = parameter.text(kName);
  if (name.empty()) fail(ErrorCode::fail, "{}: a parameter has no name", source);
  if (!is_text(name)) fail(ErrorCode::fail, "{}: the name of a parameter is no UTF-8 text", source);
  return std::string(name);
}

Shape shape_of(const Table& parameter, const std::string& name, DType dtype, const std::string& source) {
  const auto dims = parameter.numbers<int64_t>(kDims);
  try {
    return abi::checked_shape(dims.data(), dims.size(), dtype);
  } catch (const Error& error) {
    fail(ErrorCode::fail, "{}: parameter '{}': {}", source, name, error.message());
  }
}

Tensor tensor_of(const Table& parameter, const std::string& name, const std::string& source) {
  const int32_t type = parameter.number<int32_t>(kType);
  const DType dtype = abi::to_dtype(static_cast<ONNXTensorElementDataType>(type));
  if (dtype == DType::undefined || dtype == DType::string) {
    fail(ErrorCode::fail, "{}: parameter '{}' has elements of type {}, expected numbers", source, name, type);
  }
  const Shape shape = shape_of(parameter, name, dtype, source);
  const std::string_view data = parameter.bytes(kData);
  if (const size_t expected = bytes_of(dtype, shape.elements()); data.size() != expected) {
    fail(ErrorCode::fail, "{}: parameter '{}' of shape {} has {} bytes, expected {}", source, name, shape.to_string(), data.size(),
         expected);
  }
  Tensor tensor(dtype, shape);
  if (!data.empty()) std::memcpy(tensor.raw(), data.data(), data.size());
  return tensor;
}

// --- writing
const Tensor& checked_tensor(const std::string& name, const OrtValue& value) {
  if (!value.value.is_tensor()) fail(ErrorCode::invalid_argument, "LoRA adapter: parameter '{}' is no tensor", name);
  const Tensor& tensor = value.value.tensor();
  if (tensor.dtype() == DType::string || abi::to_element_type(tensor.dtype()) == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) {
    fail(ErrorCode::invalid_argument, "LoRA adapter: parameter '{}' has elements of type {}, expected numbers", name,
         to_string(tensor.dtype()));
  }
  if (!tensor.device().is_host()) {
    fail(ErrorCode::invalid_argument, "LoRA adapter: parameter '{}' is in memory of {}, expected the host's", name,
         tensor.device().to_string());
  }
  return tensor;
}

/// All but the elements of the parameters: tables, names and dimensions. Every table has all of its fields, in order, and its vtable
/// before it.
class Head {
 public:
  explicit Head(const AdapterFile& adapter) {
    bytes_ = std::string(4, '\0');
    bytes_ += kIdentifier;
    const size_t root = table();
    point(0, root - sizeof(int32_t));
    set(root, kVersion, AdapterFile::kFormatVersion);
    set(root, kAdapterVersion, adapter.adapter_version);
    set(root, kModelVersion, adapter.model_version);
    lead_here(root, kParameters);
    put(static_cast<uint32_t>(adapter.names.size()));
    const size_t list = bytes_.size();
    bytes_.append(sizeof(uint32_t) * adapter.names.size(), '\0');
    for (size_t i = 0; i < adapter.names.size(); ++i) {
      const size_t fields = table();
      point(list + sizeof(uint32_t) * i, fields - sizeof(int32_t));
      add(fields, adapter.names[i], checked_tensor(adapter.names[i], adapter.values[i]));
    }
  }

  const std::string& bytes() const { return bytes_; }
  /// Where the elements of a parameter will be.
  void place(size_t parameter, uint64_t at) { point(data_fields_[parameter], at); }

 private:
  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void align(size_t to, size_t before = 0) {
    while ((bytes_.size() + before) % to != 0) bytes_ += '\0';
  }
  void point(size_t from, uint64_t to) {
    const uint32_t offset = static_cast<uint32_t>(to - from);
    std::memcpy(bytes_.data() + from, &offset, sizeof(offset));
  }
  void set(size_t fields, int index, int32_t value) {
    std::memcpy(bytes_.data() + fields + kFieldBytes * static_cast<size_t>(index), &value, sizeof(value));
  }
  void lead_here(size_t fields, int index) { point(fields + kFieldBytes * static_cast<size_t>(index), bytes_.size()); }
  /// A vtable of four fields and its table; returns where the fields begin.
  size_t table() {
    constexpr uint16_t vtable[] = {12, 20, 4, 8, 12, 16};  // its size, the table's, and where each field is
    align(4);
    for (const uint16_t entry : vtable) put(entry);
    put(static_cast<int32_t>(sizeof(vtable)));  // back to the vtable
    bytes_.append(4 * kFieldBytes, '\0');
    return bytes_.size() - 4 * kFieldBytes;
  }
  void add(size_t fields, const std::string& name, const Tensor& tensor) {
    set(fields, kType, static_cast<int32_t>(abi::to_element_type(tensor.dtype())));
    data_fields_.push_back(fields + kFieldBytes * kData);
    lead_here(fields, kName);
    put(static_cast<uint32_t>(name.size()));
    bytes_ += name + '\0';
    align(sizeof(int64_t), sizeof(uint32_t));
    lead_here(fields, kDims);
    put(static_cast<uint32_t>(tensor.shape().rank()));
    for (int i = 0; i < tensor.shape().rank(); ++i) put(tensor.shape()[i]);
  }

  std::string bytes_;
  std::vector<size_t> data_fields_;
};

void check_names(const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> known;
  for (const std::string& name : names) {
    if (name.empty()) fail(ErrorCode::invalid_argument, "LoRA adapter: a parameter has no name");
    if (!is_text(name)) fail(ErrorCode::invalid_argument, "LoRA adapter: the name of a parameter is no UTF-8 text");
    if (!known.insert(name).second) fail(ErrorCode::invalid_argument, "LoRA adapter: parameter '{}' stands twice", name);
  }
}

/// Where a vector of bytes whose elements are aligned begins, at or behind this place.
uint64_t aligned_vector(uint64_t from) {
  const uint64_t elements = from + sizeof(uint32_t);
  return (elements + kDataAlignment - 1) / kDataAlignment * kDataAlignment - sizeof(uint32_t);
}

}  // namespace

AdapterFile parse_adapter(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!FlatBuffer::has_identifier(text, kIdentifier)) {
    fail(ErrorCode::fail, "{}: the data does not begin as an adapter file does", source);
  }
  const FlatBuffer buffer(text, source);
  const Table root = buffer.root();
  if (const int32_t version = root.number<int32_t>(kVersion); version != AdapterFile::kFormatVersion) {
    fail(ErrorCode::fail, "{}: format version {}, expected {}", source, version, AdapterFile::kFormatVersion);
  }
  AdapterFile adapter{root.number<int32_t>(kAdapterVersion), root.number<int32_t>(kModelVersion), {}, {}};
  std::unordered_set<std::string> names;
  size_t left = bytes.size();  // each byte belongs to one parameter at most
  for (const Table& parameter : root.tables(kParameters)) {
    std::string name = name_of(parameter, source);
    if (!names.insert(name).second) fail(ErrorCode::fail, "{}: parameter '{}' stands twice", source, name);
    Tensor tensor = tensor_of(parameter, name, source);
    if (tensor.bytes() > left) fail(ErrorCode::fail, "{}: parameters share their bytes: the data is damaged", source);
    left -= tensor.bytes();
    adapter.values.emplace_back(std::move(tensor));
    adapter.names.push_back(std::move(name));
  }
  return adapter;
}

AdapterFile read_adapter_file(const std::string& path) {
  const MappedFile file{InputFile(path)};
  return parse_adapter(file.bytes(), "LoRA adapter '" + path + "'");
}

void write_adapter_file(const std::string& path, const AdapterFile& adapter) {
  check_names(adapter.names);
  Head head(adapter);
  uint64_t end = head.bytes().size();
  for (size_t i = 0; i < adapter.values.size(); ++i) {
    const uint64_t at = aligned_vector(end);
    head.place(i, at);
    end = at + sizeof(uint32_t) + adapter.values[i].value.tensor().bytes();
    if (end > kMostBytes) {
      fail(ErrorCode::invalid_argument, "LoRA adapter: the parameters take more than the {} bytes that the format has room for",
           kMostBytes);
    }
  }
  OutputFile file(path);
  file.write(head.bytes().data(), head.bytes().size());
  for (const OrtValue& value : adapter.values) {
    const Tensor& tensor = value.value.tensor();
    constexpr char padding[kDataAlignment] = {};
    file.write(padding, aligned_vector(file.size()) - file.size());
    const uint32_t size = static_cast<uint32_t>(tensor.bytes());
    file.write(&size, sizeof(size));
    file.write(tensor.raw(), size);
  }
  file.commit();
}

}  // namespace rh::capi
