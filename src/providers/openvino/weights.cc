#include "providers/openvino/weights.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace rh::openvino {

namespace {

constexpr size_t kSamples = 16, kSampleBytes = 4096;

/// By samples: a file that was written to since the host read it is told by them, or by its size.
bool are_alike(const std::byte* a, const std::byte* b, size_t bytes) {
  if (bytes <= kSamples * kSampleBytes) return std::memcmp(a, b, bytes) == 0;
  const size_t last = bytes - kSampleBytes;
  for (size_t i = 0; i <= kSamples; ++i) {
    const size_t at = last / kSamples * i;
    if (std::memcmp(a + at, b + at, kSampleBytes) != 0) return false;
  }
  return std::memcmp(a + last, b + last, kSampleBytes) == 0;
}

}  // namespace

WeightFiles::WeightFiles(const Graph& graph, const std::string& model) {
  if (model.empty()) return;
  folder_ = parent_folder(model);
  collect(graph);
}

void WeightFiles::collect(const Graph& graph) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const GraphValue& value = graph.value(id);
    if (const Tensor* tensor = value.constant_tensor(); tensor && value.external) places_.emplace(tensor->raw(), *value.external);
  }
  for (NodeId id : graph.nodes()) Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { collect(body); });
}

const std::shared_ptr<const MappedFile>& WeightFiles::mapping(const std::string& file) {
  const auto [known, is_new] = mappings_.try_emplace(file);
  if (!is_new) return known->second;
  try {
    known->second = MappedFile::shared(InputFile(join_path(folder_, file)));
  } catch (const Error&) {
    known->second = nullptr;
  }
  return known->second;
}

std::optional<Tensor> WeightFiles::find(const Tensor& tensor) {
  const auto at = places_.find(tensor.raw());
  if (at == places_.end() || at->second.bytes != tensor.bytes() || at->second.offset < 0) return {};
  const std::shared_ptr<const MappedFile>& file = mapping(at->second.file);
  const auto offset = static_cast<size_t>(at->second.offset);
  if (!file || offset > file->bytes().size() || tensor.bytes() > file->bytes().size() - offset) return {};
  const std::byte* data = file->bytes().data() + offset;
  if (!is_aligned_for(tensor.dtype(), reinterpret_cast<uintptr_t>(data))) return {};
  if (!are_alike(data, static_cast<const std::byte*>(tensor.raw()), tensor.bytes())) return {};
  return Tensor(tensor.dtype(), tensor.shape(), const_cast<std::byte*>(data), file);
}

}  // namespace rh::openvino
