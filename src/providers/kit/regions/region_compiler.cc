#include "providers/kit/regions/region_compiler.h"

#include "base/file.h"
#include "providers/kit/graph/value_import.h"

namespace rh::kit {

RegionCompiler::RegionCompiler(const Host& host, std::string provider_name, RegionProvider& provider, Trials& trials,
                               std::string options_key, const OrtSessionOptions& session, const OrtLogger* logger)
    : host_(host),
      provider_name_(std::move(provider_name)),
      trials_(trials),
      maker_(provider.artifacts()),
      options_key_(std::move(options_key)),
      logger_(logger),
      context_(host, provider_name_, session),
      cache_(maker_ ? maker_->cache() : CacheSettings{}, [this](const std::string& sentence) { warn(sentence); }) {}

RegionCompiler::Compiled RegionCompiler::compile(const Region& region, const OrtGraph& graph, const OrtNode& unit) {
  Compiled compiled{nullptr, {nullptr, host_.api->ReleaseNode}};
  if (region.outputs.empty()) return compiled;
  if (!maker_) {
    if (context_.is_written()) {
      fail(ErrorCode::not_implemented, "{} writes no compiled models: leave 'ep.context_enable' out, or the provider", provider_name_);
    }
    compiled.executable = trials_.compile(region);
    return compiled;
  }
  Artifact artifact{provider_name_, maker_->made_by(), text_of(host_, host_.api->Node_GetName, &unit), {}, {}, values_of(region)};
  const std::vector<NodeId> nodes = region.graph->nodes();
  const std::string path = model_path(host_, graph), folder = path.empty() ? std::string() : parent_folder(path);
  if (nodes.size() == 1 && context_.is_own(region.graph->node(nodes[0]))) {
    compiled.executable = load_compiled(region, region.graph->node(nodes[0]), folder, artifact);
  } else {
    compiled.executable = find_or_compile(region, folder, artifact);
  }
  if (!context_.is_written()) return compiled;
  if (artifact.payload.empty()) artifact.payload = maker_->save(*compiled.executable);
  compiled.context.reset(context_.write(unit, artifact.to_bytes(), artifact.made_by, path));
  return compiled;
}

std::unique_ptr<Executable> RegionCompiler::load_compiled(const Region& region, const Node& node, const std::string& folder,
                                                          Artifact& artifact) {
  std::optional<Artifact> found = Artifact::from_bytes(context_.read(node, folder));
  if (!found || found->provider != provider_name_) {
    fail(ErrorCode::requires_compilation, "the compiled data of node '{}' is {}: compile the model anew", node.display_name(),
         found ? "another provider's" : "damaged");
  }
  if (const std::string values = values_of(region); found->values != values) {
    fail(ErrorCode::requires_compilation,
         "the compiled data of node '{}' takes and gives '{}', the node itself '{}': compile the model anew", node.display_name(),
         found->values, values);
  }
  if (maker_->fits(found->made_by) == Fit::no) {
    fail(ErrorCode::requires_compilation, "node '{}' was compiled by {}, which {} does not take: compile the model anew",
         node.display_name(), found->made_by, artifact.made_by);
  }
  artifact = std::move(*found);
  return maker_->load(artifact.payload, region);
}

std::unique_ptr<Executable> RegionCompiler::find_or_compile(const Region& region, const std::string& folder, Artifact& artifact) {
  if (!cache_.is_on()) return trials_.compile(region);
  const std::string context = fmt::format("{}\n{}\n{}\n{}", provider_name_, artifact.made_by, own_version(), options_key_);
  RegionKey key = quick_key(region, context, folder);
  if (!key.name.empty()) {
    const std::optional<std::string> known = cache_.key_of_name(key.name);
    if (known) {
      if (auto cached = load_cached(region, *known)) return cached;
    }
    key.content = content_key(region, context);
  }
  std::unique_ptr<Executable> executable = load_cached(region, key.content);
  if (!executable) {
    executable = trials_.compile(region);
    artifact.key = key.content;
    artifact.payload = maker_->save(*executable);
    cache_.keep(artifact);
  }
  if (!key.name.empty()) cache_.name_key(key.name, key.content);
  return executable;
}

// Of bytes that the vendor refuses nothing is told but that they did not work: they may be from a library that has changed its format.
std::unique_ptr<Executable> RegionCompiler::load_cached(const Region& region, const std::string& key) {
  const std::optional<Artifact> artifact = cache_.find(key, provider_name_);
  if (!artifact) return nullptr;
  try {
    return maker_->load(artifact->payload, region);
  } catch (const Error& error) {
    warn(fmt::format("'{}' of the cache does not load, the region is compiled anew: {}", key, error.message()));
    return nullptr;
  }
}

void RegionCompiler::warn(const std::string& sentence) const {
  if (!logger_) return;
  const std::string text = provider_name_ + ": " + sentence;
  host_.api->ReleaseStatus(
      host_.api->Logger_LogMessage(logger_, ORT_LOGGING_LEVEL_WARNING, text.c_str(), ORT_TSTR("region_compiler.cc"), 0, "compile"));
}

OrtCompiledModelCompatibility compatibility_of(RegionProvider& provider, const std::string& made_by) {
  ArtifactMaker* maker = provider.artifacts();
  if (!maker) return OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  switch (maker->fits(made_by)) {
    case Fit::best: return OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL;
    case Fit::works: return OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION;
    case Fit::no: break;
  }
  return OrtCompiledModelCompatibility_EP_UNSUPPORTED;
}

}  // namespace rh::kit
