#include "providers/kit/cache/ep_context.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/paths.h"
#include "providers/kit/graph/value_import.h"
#include "providers/kit/host/options.h"

namespace rh::kit {

namespace {

constexpr std::string_view kOp = "EPContext", kDomain = "com.microsoft";
constexpr uint32_t kDataFunctionsVersion = 31;

std::string text_attribute(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  const std::string* text = attribute ? attribute->get<std::string>() : nullptr;
  return text ? *text : std::string();
}

int64_t integer_attribute(const Node& node, std::string_view name, int64_t otherwise) {
  const Attribute* attribute = node.attribute(name);
  const int64_t* number = attribute ? attribute->get<int64_t>() : nullptr;
  return number ? *number : otherwise;
}

/// Attributes for a node to be made, which are released once it has them.
class Attributes {
 public:
  explicit Attributes(const Host& host) : host_(host) {}
  ~Attributes() {
    for (OrtOpAttr* attribute : made_) host_.api->ReleaseOpAttr(attribute);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void add(const char* name, const std::string& text) { make(name, text.data(), text.size(), ORT_OP_ATTR_STRING); }
  void add(const char* name, int64_t number) { make(name, &number, 1, ORT_OP_ATTR_INT); }
  OrtOpAttr** data() { return made_.data(); }
  size_t size() const { return made_.size(); }

 private:
  void make(const char* name, const void* data, size_t size, OrtOpAttrType type) {
    made_.reserve(made_.size() + 1);
    OrtOpAttr* attribute = nullptr;
    check(host_, host_.api->CreateOpAttr(name, data, static_cast<int>(size), type, &attribute));
    made_.push_back(attribute);
  }

  const Host& host_;
  std::vector<OrtOpAttr*> made_;
};

constexpr size_t kLongestName = 1000;

/// Data that stands where a file's name is expected is not printed.
bool is_printable(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

/// A name that leads out of the model's folder is none that a compiled model may give.
bool is_below_folder(const std::string& name) {
  const std::filesystem::path path = as_path(name).lexically_normal();
  return !path.is_absolute() && *path.begin() != "..";
}

/// Nor is a link that does so, but into the folder to which the model's own link leads.
bool leads_out(const std::string& file, const std::string& folder, const std::string& model) {
  const std::optional<std::string> real = resolve_path(file), top = resolve_path(folder), real_model = resolve_path(model);
  if (!real || (top && is_below(*top, *real))) return false;
  return !real_model || !is_below(parent_folder(*real_model), *real);
}

}  // namespace

EpContext::EpContext(const Host& host, std::string provider, const OrtSessionOptions& options)
    : host_(host),
      provider_(std::move(provider)),
      model_path_(config_entry(host, options, "ep.context_file_path")),
      node_prefix_(config_entry(host, options, "ep.context_node_name_prefix")),
      is_written_(config_entry(host, options, "ep.context_enable") == "1"),
      is_embedded_(config_entry(host, options, "ep.context_embed_mode") == "1") {
  if (host.version < kDataFunctionsVersion) return;
  OrtEpContextConfig* config = nullptr;
  check(host, host.ep->SessionOptionsGetEpContextConfig(&options, &config));
  const std::unique_ptr<OrtEpContextConfig, void(ORT_API_CALL*)(OrtEpContextConfig*)> owner(config, host.ep->ReleaseEpContextConfig);
  check(host, host.ep->EpContextConfig_GetEpContextDataReadFunc(config, &read_, &read_state_));
  check(host, host.ep->EpContextConfig_GetEpContextDataWriteFunc(config, &write_, &write_state_));
}

bool EpContext::is_own(const Node& node) const {
  return node.op_type == kOp && node.domain == kDomain && text_attribute(node, "source") == provider_;
}

std::string EpContext::read(const Node& node, const std::string& model) const {
  if (integer_attribute(node, "main_context", 1) == 0) {
    fail(ErrorCode::requires_compilation,
         "node '{}' shares the compiled data of another one, which {} does not write: compile the model anew", node.display_name(),
         provider_);
  }
  std::string data = text_attribute(node, "ep_cache_context");
  const int64_t embed_mode = integer_attribute(node, "embed_mode", 1);
  if (embed_mode != 0 && embed_mode != 1) {
    fail(ErrorCode::invalid_graph, "node '{}' has embed_mode {}, expected 1 (its compiled data is in the model) or 0 (it is in a file)",
         node.display_name(), embed_mode);
  }
  return embed_mode == 1 ? data : read_file_of(node, data, model);
}

std::string EpContext::read_file_of(const Node& node, const std::string& name, const std::string& given) const {
  if (!is_printable(name)) {
    fail(ErrorCode::invalid_graph, "node '{}' has embed_mode 0 and {} bytes that name no file for its compiled data", node.display_name(),
         name.size());
  }
  if (!is_below_folder(name)) {
    fail(ErrorCode::invalid_graph, "node '{}' names the file '{}' for its compiled data, expected one below the model's folder",
         node.display_name(), name);
  }
  if (read_) {
    OrtAllocator* allocator = nullptr;
    check(host_, host_.api->GetAllocatorWithDefaultOptions(&allocator));
    void* data = nullptr;
    size_t bytes = 0;
    check(host_, read_(read_state_, name.c_str(), allocator, &data, &bytes));
    const auto release = [&](void* memory) { allocator->Free(allocator, memory); };
    const std::unique_ptr<void, decltype(release)> owner(data, release);
    return std::string(static_cast<const char*>(data), bytes);
  }
  const std::string& model = given.empty() ? model_path_ : given;
  const std::string folder = model.empty() ? "." : parent_folder(model), file = join_path(folder, name);
  if (leads_out(file, folder, model)) {
    fail(ErrorCode::invalid_graph,
         "node '{}' names the file '{}' for its compiled data, a link to '{}', expected one below the model's folder", node.display_name(),
         name, *resolve_path(file));
  }
  try {
    return rh::read_file(file);
  } catch (const Error& error) {
    fail(error.code(), "the compiled data of node '{}' is not there: {}", node.display_name(), error.message());
  }
}

void EpContext::write_data(const std::string& name, const std::string& artifact) const {
  if (write_) return check(host_, write_(write_state_, name.c_str(), artifact.data(), artifact.size()));
  rh::write_file(join_path(parent_folder(model_path_), name), artifact);
}

OrtNode* EpContext::write(const OrtNode& unit, const std::string& artifact, const std::string& made_by, const std::string& source) {
  const OrtApi& api = *host_.api;
  if (model_path_.empty() && !source.empty()) {  // where hosts write the model when nothing else is said
    const std::filesystem::path path = as_path(source);
    model_path_ = utf8(path.parent_path() / (path.stem() += "_ctx.onnx"));
  }
  const std::string name = text_of(host_, api.Node_GetName, &unit);
  std::string data = artifact;
  if (!is_embedded_) {
    if (model_path_.empty() && !write_) {
      fail(ErrorCode::invalid_argument,
           "the compiled data of {} goes into a file beside the model, whose place is not known: set 'ep.context_file_path', or "
           "'ep.context_embed_mode' to 1",
           provider_);
    }
    const std::string stem = model_path_.empty() ? provider_ : utf8(as_path(model_path_).stem());
    data = stem + "_" + utf8(as_path(name).filename()) + ".bin";
    write_data(data, artifact);
  }
  Attributes attributes(host_);
  attributes.add("main_context", 1);
  attributes.add("embed_mode", is_embedded_ ? 1 : 0);
  attributes.add("ep_cache_context", data);
  attributes.add("source", provider_);
  attributes.add("ep_sdk_version", made_by);
  attributes.add("partition_name", name);
  std::vector<std::string> names;
  const auto add_names = [&](const std::vector<const OrtValueInfo*>& values) {
    for (const OrtValueInfo* value : values) names.push_back(value ? text_of(host_, api.GetValueInfoName, value) : std::string());
  };
  add_names(list_of(host_, api.Node_GetNumInputs, api.Node_GetInputs, unit));
  const size_t inputs = names.size();
  add_names(list_of(host_, api.Node_GetNumOutputs, api.Node_GetOutputs, unit));
  std::vector<const char*> raw;
  for (const std::string& text : names) raw.push_back(text.c_str());
  OrtNode* node = nullptr;
  check(host_, api.GetModelEditorApi()->CreateNode(kOp.data(), kDomain.data(), (node_prefix_ + name).c_str(), raw.data(), inputs,
                                                   raw.data() + inputs, raw.size() - inputs, attributes.data(), attributes.size(), &node));
  return node;
}

std::string model_path(const Host& host, const OrtGraph& graph) {
  const ORTCHAR_T* path = nullptr;
  check(host, host.api->Graph_GetModelPath(&graph, &path));
  return path ? utf8(path) : std::string();
}

}  // namespace rh::kit
