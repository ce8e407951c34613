#include "providers/kit/regions/region_compiler.h"

#include "base/file.h"
#include "providers/kit/graph/value_import.h"
#include "providers/kit/regions/value_order.h"

namespace rh::kit {

RegionCompiler::RegionCompiler(const Host& host, std::string provider_name, RegionProvider& provider, std::string options_key,
                               const OrtSessionOptions& session, const OrtLogger* logger)
    : host_(host),
      provider_(provider),
      provider_name_(std::move(provider_name)),
      maker_(provider.artifacts()),
      options_key_(std::move(options_key)),
      logger_(logger),
      context_(host, provider_name_, session),
      cache_(maker_ ? maker_->cache() : CacheSettings{}, [this](const std::string& sentence) { warn(sentence); }) {}

RegionCompiler::Compiled RegionCompiler::compile(const Region& given, const OrtGraph& graph, const OrtNode& unit, Trials& trials) {
  Compiled compiled{nullptr, {nullptr, host_.api->ReleaseNode}};
  if (given.outputs.empty()) return compiled;
  if (!maker_ && context_.is_written()) {
    fail(ErrorCode::not_implemented, "{} writes no compiled models: leave 'ep.context_enable' out, or the provider", provider_name_);
  }
  begin(graph);
  const Region region = provider_.tries_regions() ? sorted_by_name(given) : given;
  const std::vector<NodeId> nodes = region.graph->nodes();
  Artifact artifact;
  if (nodes.size() == 1 && is_compiled(region.graph->node(nodes[0]))) {
    compiled.executable = load_compiled(region, region.graph->node(nodes[0]), artifact);
  } else {
    compiled.executable = trials.take(region);
    if (!compiled.executable) compiled.executable = find_or_compile(region);
  }
  if (context_.is_written()) {
    if (artifact.made_by.empty()) {
      artifact = artifact_of(region);
      artifact.payload = maker_->save(*compiled.executable);
    }
    artifact.region = text_of(host_, host_.api->Node_GetName, &unit);
    compiled.context.reset(context_.write(unit, artifact.to_bytes(), artifact.made_by, model_));
  }
  compiled.executable = for_order_of(given, region, std::move(compiled.executable));
  return compiled;
}

Artifact RegionCompiler::artifact_of(const Region& region) const {
  const std::vector<NodeId> nodes = region.graph->nodes();
  Artifact artifact;
  artifact.provider = provider_name_;
  artifact.made_by = maker_->made_by();
  artifact.region = fmt::format("{} nodes to '{}'", nodes.size(), region.graph->value(region.outputs.at(0)).name);
  artifact.values = values_of(region);
  return artifact;
}

std::unique_ptr<Executable> RegionCompiler::load_compiled(const Region& region, const Node& node, Artifact& artifact) {
  std::optional<Artifact> found = Artifact::from_bytes(OwnedBytes(context_.read(node, model_)));
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
         node.display_name(), found->made_by, maker_->made_by());
  }
  artifact = std::move(*found);
  return maker_->load(artifact.payload, region);
}

RegionCompiler::Key RegionCompiler::key_of(const Region& region) const {
  Key key;
  key.context = fmt::format("{}\n{}\n{}\n{}\n{}", provider_name_, maker_->made_by(), own_version(), options_key_, maker_->settings());
  key.region = quick_key(region, key.context);
  return key;
}

std::optional<Artifact> RegionCompiler::find(const Region& region, Key& key) {
  if (!key.region.name.empty()) {
    const std::optional<std::string> known = cache_.key_of_name(key.region.name);
    if (known) {
      if (auto found = cache_.find(*known, provider_name_)) return found;
    }
    key.region.content = content_key(region, key.context);
  }
  std::optional<Artifact> found = cache_.find(key.region.content, provider_name_);
  if (found && !key.region.name.empty()) cache_.name_key(key.region.name, key.region.content);
  return found;
}

void RegionCompiler::keep(const Region& region, const Key& key, Artifact artifact) {
  artifact.key = key.region.content.empty() ? content_key(region, key.context) : key.region.content;
  cache_.keep(artifact);
  if (!key.region.name.empty()) cache_.name_key(key.region.name, artifact.key);
}

// Of bytes that the vendor refuses nothing is told but that they did not work: they may be from a library that has changed its format.
std::unique_ptr<Executable> RegionCompiler::load(const Artifact& artifact, const Region& region) {
  try {
    return maker_->load(artifact.payload, region);
  } catch (const Error& error) {
    warn(fmt::format("'{}' of the cache does not load, the region is compiled anew: {}", artifact.key, error.message()));
    return nullptr;
  }
}

std::unique_ptr<Executable> RegionCompiler::compile_now(const Region& region) {
  Region placed = region;
  placed.model = model_;
  return provider_.compile(placed);
}

std::unique_ptr<Executable> RegionCompiler::compile_and_keep(const Region& region, Key& key) {
  std::unique_ptr<Executable> executable = compile_now(region);
  try {
    Artifact artifact = artifact_of(region);
    artifact.payload = maker_->save(*executable);
    keep(region, key, std::move(artifact));
  } catch (const Error& error) {
    warn(fmt::format("a region is not kept in the cache: {}", error.message()));
  }
  return executable;
}

// A model that is compiled ahead of time is made of what the vendor compiles now: not every vendor writes down what it has read.
std::unique_ptr<Executable> RegionCompiler::find_or_compile(const Region& region) {
  if (!cache_.is_on() || context_.is_written()) return compile_now(region);
  Key key = key_of(region);
  if (const std::optional<Artifact> found = find(region, key)) {
    if (auto executable = load(*found, region)) return executable;
  }
  return compile_and_keep(region, key);
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
