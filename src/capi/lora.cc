#include "capi/lora.h"

#include <cstring>
#include <unordered_set>

#include "abi/element_type.h"
#include "abi/options.h"
#include "base/file.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

/// The file format: a FlatBuffer of the identifier "TORT", whose root is a table of the format's version, the versions of the adapter and
/// the model, and a vector of parameters; each of these is a table of a name, dimensions, an element type and the elements' bytes.
constexpr std::string_view kIdentifier = "TORT";
constexpr int32_t kFormatVersion = 1;
constexpr int kVersion = 0, kParameters = 3;               // fields of the root
constexpr int kName = 0, kDims = 1, kType = 2, kData = 3;  // fields of a parameter

class FlatBuffer {
 public:
  explicit FlatBuffer(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T read(size_t at) const {
    T value;
    std::memcpy(&value, take(at, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view text(size_t at, size_t size) const { return {reinterpret_cast<const char*>(take(at, size).data()), size}; }
  /// What the offset at this place leads to.
  size_t follow(size_t at) const { return at + read<uint32_t>(at); }
  /// Where a table has the field; 0 where it is left out.
  size_t field(size_t table, int index) const {
    const int64_t offsets = static_cast<int64_t>(table) - read<int32_t>(table);
    if (offsets < 0) damaged();
    const size_t list = static_cast<size_t>(offsets), entry = 4 + 2 * static_cast<size_t>(index);
    if (entry + 2 > read<uint16_t>(list)) return 0;
    const uint16_t offset = read<uint16_t>(list + entry);
    return offset == 0 ? 0 : table + offset;
  }
  int32_t number(size_t table, int index) const {
    const size_t at = field(table, index);
    return at == 0 ? 0 : read<int32_t>(at);
  }
  /// The elements of a vector or string, each of so many bytes; none where the field is left out.
  std::span<const std::byte> elements(size_t table, int index, size_t bytes_each) const {
    const size_t at = field(table, index);
    if (at == 0) return {};
    const size_t start = follow(at);
    return take(start + 4, read<uint32_t>(start) * bytes_each);
  }
  size_t position(std::span<const std::byte> part) const { return static_cast<size_t>(part.data() - bytes_.data()); }

 private:
  [[noreturn]] static void damaged() { fail(ErrorCode::fail, "LoRA adapter: the data is truncated or damaged"); }
  std::span<const std::byte> take(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) damaged();
    return bytes_.subspan(at, size);
  }

  std::span<const std::byte> bytes_;
};

std::string name_of(const FlatBuffer& buffer, size_t parameter) {
  const auto name = buffer.elements(parameter, kName, 1);
  if (name.empty()) fail(ErrorCode::fail, "LoRA adapter: a parameter has no name");
  return std::string(reinterpret_cast<const char*>(name.data()), name.size());
}

Tensor tensor_of(const FlatBuffer& buffer, size_t parameter, const std::string& name) {
  const int32_t type = buffer.number(parameter, kType);
  const DType dtype = abi::to_dtype(static_cast<ONNXTensorElementDataType>(type));  // the format has the numbers of the C ABI
  if (dtype == DType::undefined || dtype == DType::string) {
    fail(ErrorCode::fail, "LoRA adapter: parameter '{}' has elements of type {}, expected numbers", name, type);
  }
  const auto listed = buffer.elements(parameter, kDims, sizeof(int64_t));
  std::vector<int64_t> dims(listed.size() / sizeof(int64_t));
  if (!dims.empty()) std::memcpy(dims.data(), listed.data(), listed.size());
  const Shape shape = abi::checked_shape(dims.data(), dims.size(), dtype);
  const auto data = buffer.elements(parameter, kData, 1);
  if (const size_t expected = bytes_of(dtype, shape.elements()); data.size() != expected) {
    fail(ErrorCode::fail, "LoRA adapter: parameter '{}' of shape {} has {} bytes, expected {}", name, shape.to_string(), data.size(),
         expected);
  }
  Tensor tensor(dtype, shape);
  if (!data.empty()) std::memcpy(tensor.raw(), data.data(), data.size());
  return tensor;
}

std::unique_ptr<OrtLoraAdapter> parse(std::span<const std::byte> bytes) {
  const FlatBuffer buffer(bytes);
  if (bytes.size() < 8 || buffer.text(4, kIdentifier.size()) != kIdentifier) {
    fail(ErrorCode::fail, "LoRA adapter: the data does not begin as an adapter file does");
  }
  const size_t root = buffer.follow(0);
  if (const int32_t version = buffer.number(root, kVersion); version != kFormatVersion) {
    fail(ErrorCode::fail, "LoRA adapter: format version {}, expected {}", version, kFormatVersion);
  }
  auto adapter = std::make_unique<OrtLoraAdapter>();
  std::unordered_set<std::string> names;
  size_t left = bytes.size();  // each byte belongs to one parameter at most
  const auto parameters = buffer.elements(root, kParameters, sizeof(uint32_t));
  for (size_t i = 0; i < parameters.size(); i += sizeof(uint32_t)) {
    const size_t parameter = buffer.follow(buffer.position(parameters) + i);
    std::string name = name_of(buffer, parameter);
    if (!names.insert(name).second) fail(ErrorCode::fail, "LoRA adapter: parameter '{}' stands twice", name);
    Tensor tensor = tensor_of(buffer, parameter, name);
    if (tensor.bytes() > left) fail(ErrorCode::fail, "LoRA adapter: parameters share their bytes: the data is damaged");
    left -= tensor.bytes();
    adapter->values.emplace_back(std::move(tensor));
    adapter->names.push_back(std::move(name));
  }
  return adapter;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateLoraAdapter(const ORTCHAR_T* path, OrtAllocator*, OrtLoraAdapter** out) {
  return guard([&] {
    checked(out, "out");
    const MappedFile file{InputFile(&checked(path, "adapter_file_path"))};
    *out = parse(file.bytes()).release();
  });
}

OrtStatus* ORT_API_CALL CreateLoraAdapterFromArray(const void* bytes, size_t size, OrtAllocator*, OrtLoraAdapter** out) {
  return guard([&] {
    checked(out, "out");
    *out = parse({static_cast<const std::byte*>(checked_array(bytes, size, "bytes")), size}).release();
  });
}

void ORT_API_CALL ReleaseLoraAdapter(OrtLoraAdapter* adapter) { delete adapter; }

OrtStatus* ORT_API_CALL RunOptionsAddActiveLoraAdapter(OrtRunOptions* options, const OrtLoraAdapter* adapter) {
  return guard([&] { checked(options, "options").lora_adapters.push_back(&checked(adapter, "adapter")); });
}

}  // namespace rh::capi
