// What kernels of plugins and of custom operators may ask about their node when they are made.
#include <cstring>
#include <limits>
#include <optional>

#include "abi/allocator.h"
#include "abi/type_info.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "ops/default_attributes.h"
#include "providers/plugin/kernel_info.h"
#include "providers/plugin/kernel_registry.h"

namespace rh::capi {

namespace {

const OrtKernelInfo& info_of(const OrtKernelInfo* info) { return checked(info, "info"); }

/// A string into a buffer; the size alone where the buffer is null. Sizes count the terminator.
void copy_text(std::string_view text, char* out, size_t* size) {
  const size_t given = checked(size, "size"), needed = text.size() + 1;
  *size = needed;
  if (!out) return;
  if (given < needed) fail(ErrorCode::invalid_argument, "{} bytes are needed, {} given", needed, given);
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
}

template <typename T>
void copy_list(const std::vector<T>& list, T* out, size_t* size) {
  const size_t given = checked(size, "size");
  *size = list.size();
  if (!out) return;
  if (given < list.size()) fail(ErrorCode::invalid_argument, "room for {} elements is needed, for {} given", list.size(), given);
  std::copy(list.begin(), list.end(), out);
}

/// The node's own, or the standard's default.
template <typename T>
T attribute(const OrtKernelInfo* info, const char* name) {
  const Node& node = *info_of(info).node;
  const Attribute* found = node.attribute(&checked(name, "name"));
  const std::optional<Attribute> given = found ? std::nullopt : ops::default_attribute(node, name);
  if (given) found = &*given;
  if (!found) throw Error(ErrorCode::fail, fmt::format("there is no attribute '{}'", name), node.where());
  const T* value = found->get<T>();
  if (!value) throw Error(ErrorCode::fail, fmt::format("attribute '{}' is of another kind", name), node.where());
  return *value;
}

ValueId value_at(const std::vector<ValueId>& values, size_t index, const char* what) {
  if (index >= values.size()) fail(ErrorCode::invalid_argument, "{} {} was asked for; the node has {}", what, index, values.size());
  return values[index];
}

void name_of(const OrtKernelInfo& info, ValueId value, char* out, size_t* size) {
  copy_text(value == kNoValue ? std::string_view() : info.graph->value(value).name, out, size);
}

void type_of(const OrtKernelInfo& info, ValueId value, const char* what, OrtTypeInfo** out) {
  checked(out, "type_info") = nullptr;
  if (value == kNoValue) fail(ErrorCode::invalid_argument, "the {} is left out", what);
  *out = abi::type_info_of(info.graph->value(value).type).release();
}

}  // namespace

OrtStatus* ORT_API_CALL CopyKernelInfo(const OrtKernelInfo* info, OrtKernelInfo** out) {
  return guard([&] {
    checked(out, "info_copy");
    *out = new OrtKernelInfo(info_of(info));
  });
}

void ORT_API_CALL ReleaseKernelInfo(OrtKernelInfo* info) { delete info; }

OrtStatus* ORT_API_CALL KernelInfo_GetInputCount(const OrtKernelInfo* info, size_t* out) {
  return guard([&] { checked(out, "out") = info_of(info).node->inputs.size(); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputCount(const OrtKernelInfo* info, size_t* out) {
  return guard([&] { checked(out, "out") = info_of(info).node->outputs.size(); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputName(const OrtKernelInfo* info, size_t index, char* out, size_t* size) {
  return guard([&] { name_of(info_of(info), value_at(info_of(info).node->inputs, index, "input"), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputName(const OrtKernelInfo* info, size_t index, char* out, size_t* size) {
  return guard([&] { name_of(info_of(info), value_at(info_of(info).node->outputs, index, "output"), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputTypeInfo(const OrtKernelInfo* info, size_t index, OrtTypeInfo** out) {
  return guard([&] { type_of(info_of(info), value_at(info_of(info).node->inputs, index, "input"), "input", out); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputTypeInfo(const OrtKernelInfo* info, size_t index, OrtTypeInfo** out) {
  return guard([&] { type_of(info_of(info), value_at(info_of(info).node->outputs, index, "output"), "output", out); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetNodeName(const OrtKernelInfo* info, char* out, size_t* size) {
  return guard([&] { copy_text(info_of(info).node->name, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorDomain(const OrtKernelInfo* info, char* out, size_t* size) {
  return guard([&] { copy_text(info_of(info).node->domain, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorType(const OrtKernelInfo* info, char* out, size_t* size) {
  return guard([&] { copy_text(info_of(info).node->op_type, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorSinceVersion(const OrtKernelInfo* info, int* out) {
  return guard([&] {
    const OrtKernelInfo& source = info_of(info);
    checked(out, "since_version") = source.since_version > 0 ? source.since_version : plugin::since_version(*source.node);
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetLogger(const OrtKernelInfo* info, const OrtLogger** out) {
  return guard([&] { checked(out, "logger") = info_of(info).logger; });
}

OrtStatus* ORT_API_CALL KernelInfo_GetConfigEntries(const OrtKernelInfo* info, OrtKeyValuePairs** out) {
  return guard([&] {
    checked(out, "out");
    *out = info_of(info).config ? new OrtKeyValuePairs(*info->config) : new OrtKeyValuePairs;
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetAllocator(const OrtKernelInfo* info, OrtMemType type, OrtAllocator** out) {
  return guard([&] {
    OrtAllocator* device = info_of(info).allocator;
    checked(out, "out") = type == OrtMemTypeDefault && device ? device : &abi::default_allocator();
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetConstantInput_tensor(const OrtKernelInfo* info, size_t index, int* is_constant, const OrtValue** out) {
  return guard([&] {
    const auto& constants = info_of(info).constants;
    const bool found = index < constants.size() && constants[index];
    checked(is_constant, "is_constant") = found ? 1 : 0;
    checked(out, "out") = found ? constants[index].get() : nullptr;
  });
}

// Attributes

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_float(const OrtKernelInfo* info, const char* name, float* out) {
  return guard([&] { checked(out, "out") = attribute<float>(info, name); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_int64(const OrtKernelInfo* info, const char* name, int64_t* out) {
  return guard([&] { checked(out, "out") = attribute<int64_t>(info, name); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_string(const OrtKernelInfo* info, const char* name, char* out, size_t* size) {
  return guard([&] { copy_text(attribute<std::string>(info, name), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_float(const OrtKernelInfo* info, const char* name, float* out, size_t* size) {
  return guard([&] { copy_list(attribute<std::vector<float>>(info, name), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_int64(const OrtKernelInfo* info, const char* name, int64_t* out, size_t* size) {
  return guard([&] { copy_list(attribute<std::vector<int64_t>>(info, name), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_string(const OrtKernelInfo* info, const char* name, OrtAllocator* allocator,
                                                           char*** out, size_t* size) {
  return guard([&] {
    const auto list = attribute<std::vector<std::string>>(info, name);
    checked(out, "out") = nullptr;
    checked(size, "size") = 0;
    OrtAllocator& memory = checked(allocator, "allocator");
    if (list.empty()) return;
    auto** texts = static_cast<char**>(abi::allocate(memory, list.size() * sizeof(char*)));
    size_t made = 0;
    try {
      for (; made < list.size(); ++made) texts[made] = abi::copy_string(memory, list[made]);
    } catch (...) {
      while (made > 0) memory.Free(&memory, texts[--made]);
      memory.Free(&memory, texts);
      throw;
    }
    *out = texts;
    *size = list.size();
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_tensor(const OrtKernelInfo* info, const char* name, OrtAllocator* allocator,
                                                      OrtValue** out) {
  return guard([&] {
    const Tensor tensor = attribute<Tensor>(info, name);
    checked(out, "out") = nullptr;
    Tensor copy = abi::allocate_tensor(checked(allocator, "allocator"), tensor.dtype(), tensor.shape());
    copy_elements(tensor.view(), copy.mutable_view());
    *out = new OrtValue(Value(std::move(copy)));
  });
}

}  // namespace rh::capi
