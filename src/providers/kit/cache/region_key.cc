#include "providers/kit/cache/region_key.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/file.h"
#include "base/file_mappings.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

constexpr size_t kSamples = 16, kSampleBytes = 4096;

/// Hashes a graph so that only what it computes counts, and the names of what goes in and out.
class GraphHash {
 public:
  using HashConstant = std::function<void(ContentHash&, const GraphValue&)>;
  GraphHash(ContentHash& hash, const HashConstant& constant) : hash_(hash), constant_(constant) {}

  void add(const Graph& graph, const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs, const GraphHash* around = nullptr) {
    for (const auto& [domain, version] : graph.opset_imports) {
      hash_.add_text(domain);
      hash_.add_number(static_cast<uint64_t>(version));
    }
    hash_.add_number(inputs.size());
    for (ValueId id : inputs) {
      hash_.add_text(graph.value(id).name);
      use(graph, id, around);
    }
    const std::vector<NodeId> nodes = graph.topological_order();
    hash_.add_number(nodes.size());
    for (NodeId id : nodes) add(graph, graph.node(id), around);
    hash_.add_number(outputs.size());
    for (ValueId id : outputs) {
      hash_.add_text(graph.value(id).name);
      use(graph, id, around);
    }
  }

 private:
  void add(const Graph& graph, const Node& node, const GraphHash* around) {
    for (const std::string* text : {&node.domain, &node.op_type}) hash_.add_text(*text);
    hash_.add_number(static_cast<uint64_t>(node.opset));
    for (const std::vector<ValueId>* taken : {&node.inputs, &node.implicit_inputs}) {
      hash_.add_number(taken->size());
      for (ValueId id : *taken) use(graph, id, around);
    }
    hash_.add_number(node.outputs.size());
    for (ValueId id : node.outputs) use(graph, id, around);
    std::vector<const Attribute*> attributes;
    for (const Attribute& attribute : node.attributes) attributes.push_back(&attribute);
    std::ranges::sort(attributes, {}, &Attribute::name);
    hash_.add_number(attributes.size());
    for (const Attribute* attribute : attributes) add(*attribute);
  }

  // A value is numbered where it is met first, and told then: its type, or its content.
  void use(const Graph& graph, ValueId id, const GraphHash* around) {
    if (id == kNoValue) return hash_.add_number(~uint64_t{0});
    const auto [at, is_new] = numbers_.emplace(id, numbers_.size());
    hash_.add_number(at->second);
    if (!is_new) return;
    const GraphValue& value = graph.value(id);
    hash_.add_text(value.type.to_string());
    hash_.add_number(value.outer == kNoValue || !around ? 0 : around->number(value.outer) + 1);
    hash_.add_number(value.is_constant());
    if (value.is_constant()) constant_(hash_, value);
  }

  uint64_t number(ValueId id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? ~uint64_t{0} - 1 : found->second;
  }

  void add(const Attribute& attribute) {
    hash_.add_text(attribute.name);
    hash_.add_number(attribute.value.index());
    std::visit([&](const auto& payload) { add_payload(payload); }, attribute.value);
  }

  void add_payload(std::monostate) {}
  void add_payload(int64_t number) { hash_.add_number(static_cast<uint64_t>(number)); }
  void add_payload(float number) { hash_.add_number(std::bit_cast<uint32_t>(number)); }
  void add_payload(const std::string& text) { hash_.add_text(text); }
  void add_payload(const Tensor& tensor) { add_tensor(hash_, tensor); }
  void add_payload(const SparseTensor&) { fail(ErrorCode::not_implemented, "a sparse tensor has no key"); }
  void add_payload(const std::shared_ptr<Graph>& body) { GraphHash(hash_, constant_).add(*body, body->inputs(), body->outputs(), this); }
  void add_payload(const ValueType& type) { hash_.add_text(type.to_string()); }
  void add_payload(const AttributeReference& reference) { hash_.add_text(reference.name); }
  template <typename T>
  void add_payload(const std::vector<T>& list) {
    hash_.add_number(list.size());
    for (const T& entry : list) add_payload(entry);
  }

 public:
  static void add_tensor(ContentHash& hash, const Tensor& tensor) {
    hash.add_number(static_cast<uint64_t>(tensor.dtype()));
    hash.add_number(static_cast<uint64_t>(tensor.shape().rank()));
    for (int64_t size : tensor.shape()) hash.add_number(static_cast<uint64_t>(size));
    if (tensor.dtype() == DType::string) {
      for (int64_t i = 0; i < tensor.elements(); ++i) hash.add_text(tensor.data<std::string>()[i]);
    } else {
      hash.add({tensor.data<std::byte>(), tensor.bytes()});
    }
  }

 private:
  ContentHash& hash_;
  const HashConstant& constant_;
  std::map<ValueId, uint64_t> numbers_;
};

std::string key_of(const Region& region, std::string_view context, const GraphHash::HashConstant& constant) {
  ContentHash hash;
  hash.add_text(context);
  GraphHash(hash, constant).add(*region.graph, region.inputs, region.outputs);
  return hash.hex();
}

void add_whole(ContentHash& hash, const GraphValue& value) {
  if (!value.initializer.is_tensor()) fail(ErrorCode::not_implemented, "'{}' is no dense tensor", value.name);
  GraphHash::add_tensor(hash, value.initializer.tensor());
}

/// Blocks of the constant, the first and the last among them.
void add_samples(ContentHash& hash, const Tensor& tensor) {
  const size_t bytes = tensor.bytes(), last = bytes - kSampleBytes;
  for (size_t i = 0; i < kSamples; ++i) {
    hash.add({tensor.data<std::byte>() + last / (kSamples - 1) * i, kSampleBytes});
  }
  hash.add({tensor.data<std::byte>() + last, kSampleBytes});
}

/// Large constants that are a file's bytes by that file, its state and where they lie in it; others by a mark of all bytes. What a
/// session puts in the place of a constant lies elsewhere, or in pages that were copied.
class LargeConstants {
 public:
  explicit LargeConstants(const CacheMarkKey& mark_key) : mark_key_(mark_key) {}

  void add(ContentHash& hash, const GraphValue& value) {
    const Tensor* tensor = value.constant_tensor();
    if (!tensor || tensor->dtype() == DType::string || tensor->bytes() < kSamples * kSampleBytes) return add_whole(hash, value);
    hash.add_number(static_cast<uint64_t>(tensor->dtype()));
    for (int64_t size : tensor->shape()) hash.add_number(static_cast<uint64_t>(size));
    const std::optional<FileMappings::Place> place = mappings_.find(tensor->raw(), tensor->bytes());
    const std::optional<FileIdentity> file = place ? identity_of(place->path) : std::nullopt;
    if (!file || file->inode != place->inode) return add_bytes(hash, {tensor->data<std::byte>(), tensor->bytes()});
    hash.add_text(place->path);
    // Programs that unpack set the time of modification as they like, but not that of the file's last change.
    for (int64_t time : {file->modified_ns, file->changed_ns}) hash.add_number(static_cast<uint64_t>(time));
    for (uint64_t part : {file->device, file->inode, file->size, place->position}) hash.add_number(part);
    add_samples(hash, *tensor);
  }

 private:
  void add_bytes(ContentHash& hash, std::span<const std::byte> bytes) {
    if (!key_) key_ = std::make_unique<std::optional<MarkKey>>(mark_key_());
    if (!*key_) return hash.add(bytes);
    const ContentMark mark = content_mark({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, **key_);
    for (uint64_t part : {mark.first, mark.second}) hash.add_number(part);
  }

  const std::optional<FileIdentity>& identity_of(const std::string& path) {
    const auto [known, is_new] = files_.try_emplace(path);
    if (!is_new) return known->second;
    try {
      if (write_back_mappings(path)) known->second = InputFile(path).identity();
    } catch (const Error&) {
      known->second.reset();
    }
    return known->second;
  }

  const CacheMarkKey& mark_key_;
  std::unique_ptr<std::optional<MarkKey>> key_;  ///< null until it is asked for
  FileMappings mappings_;
  std::map<std::string, std::optional<FileIdentity>> files_;
};

}  // namespace

std::string content_key(const Region& region, std::string_view context) { return key_of(region, context, add_whole); }

RegionKey quick_key(const Region& region, std::string_view context, const CacheMarkKey& mark_key) {
  if (region.graph->constant_bytes() <= kHashedBytes) return {.content = content_key(region, context), .name = {}};
  LargeConstants constants(mark_key);
  return {.content = {}, .name = key_of(region, context, [&](ContentHash& hash, const GraphValue& value) { constants.add(hash, value); })};
}

}  // namespace rh::kit
