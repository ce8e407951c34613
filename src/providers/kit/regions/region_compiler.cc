#include "providers/kit/regions/region_compiler.h"

#include <mutex>

#include "base/file.h"
#include "providers/kit/cache/content_hash.h"
#include "providers/kit/graph/value_import.h"
#include "providers/kit/regions/value_order.h"

namespace rh::kit {

namespace {

/// Programs of one region, each an artifact whose key is a hash of the region's and the program's name.
class ProgramsInCache final : public KeptPrograms {
 public:
  ProgramsInCache(CacheSettings settings, ArtifactCache::Warn warn, std::string key, Artifact artifact)
      : warn_(warn), cache_(std::move(settings), std::move(warn)), key_(std::move(key)), artifact_(std::move(artifact)) {}

  std::optional<OwnedBytes> find(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const std::optional<Artifact> found = cache_.find(key_of(name), artifact_.provider);
    return found ? std::optional(found->payload) : std::nullopt;
  }
  void keep(const std::string& name, std::string bytes) override {
    Artifact artifact = artifact_;
    artifact.key = key_of(name);
    artifact.region += ", " + name;
    artifact.payload = OwnedBytes(std::move(bytes));
    const std::lock_guard lock(mutex_);
    cache_.keep(artifact);
  }
  void warn(const std::string& name, std::string_view why) override {
    warn_(fmt::format("{}, {}, does not load from the cache and is compiled anew: {}", artifact_.region, name, why));
  }

 private:
  std::string key_of(const std::string& name) const { return hash_of(key_ + "\n" + name); }

  std::mutex mutex_;
  ArtifactCache::Warn warn_;
  ArtifactCache cache_;
  std::string key_;
  Artifact artifact_;  ///< what all of them say
};

}  // namespace

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
  if (context_.is_written()) write_context(region, unit, *compiled.executable, std::move(artifact), compiled);
  compiled.executable = for_order_of(given, region, std::move(compiled.executable));
  return compiled;
}

// A region that cannot be written stays in the compiled model as the nodes that it was made of. ONNX Runtime wants a node for each.
void RegionCompiler::write_context(const Region& region, const OrtNode& unit, const Executable& executable, Artifact artifact,
                                   Compiled& compiled) {
  const auto stays = [&](std::string_view why) {
    const std::string& last = region.graph->value(region.outputs[0]).name;
    if (host_.is_roundhouse) return warn(fmt::format("the nodes up to '{}' stay as they are in the compiled model: {}", last, why));
    fail(ErrorCode::not_implemented, "{} does not write the region of '{}' into a compiled model: {}: leave 'ep.context_enable' out",
         provider_name_, last, why);
  };
  if (artifact.made_by.empty()) {
    if (!maker_) return stays("the provider writes no compiled models");
    if (maker_->is_open(executable)) return stays("they are compiled when runs bring their sizes; a model of known sizes has none such");
    artifact = artifact_of(region);
    artifact.payload = maker_->save(executable);
  }
  artifact.region = text_of(host_, host_.api->Node_GetName, &unit);
  compiled.context.reset(context_.write(unit, artifact.to_bytes(), artifact.made_by, model_));
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

RegionCompiler::Key RegionCompiler::key_of(const Region& region) {
  Key key;
  key.context = fmt::format("{}\n{}\n{}\n{}\n{}", provider_name_, maker_->made_by(), own_version(), options_key_, maker_->settings());
  key.region = quick_key(region, key.context, [this] { return cache_.mark_key(); });
  return key;
}

std::optional<Artifact> RegionCompiler::find(const Region& region, Key& key) {
  if (!key.region.name.empty()) {
    if (const std::optional<std::string> known = cache_.key_of_name(key.region.name)) {
      key.region.content = *known;
      if (auto found = cache_.find(*known, provider_name_)) return found;
    }
    key.region.content = content_key(region, key.context);
  }
  std::optional<Artifact> found = cache_.find(key.region.content, provider_name_);
  if (found && !key.region.name.empty()) cache_.name_key(key.region.name, key.region.content);
  return found;
}

void RegionCompiler::keep(const Key& key, Artifact artifact) {
  artifact.key = key.region.content;
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
  std::unique_ptr<Executable> made = provider_.compile(placed);
  if (!made) fail(ErrorCode::ep_fail, "compile() gave nothing for the region of '{}'", region.graph->value(region.outputs.at(0)).name);
  return made;
}

std::unique_ptr<Executable> RegionCompiler::compile_and_keep(const Region& region, const Key& key) {
  std::unique_ptr<Executable> executable = compile_now(region);
  try {
    Artifact artifact = artifact_of(region);
    artifact.payload = maker_->save(*executable);
    keep(key, std::move(artifact));
  } catch (const Error& error) {
    warn(fmt::format("a region is not kept in the cache: {}", error.message()));
  }
  return executable;
}

// A model that is compiled ahead of time is made of what the vendor compiles now: not every vendor writes down what it has read.
std::unique_ptr<Executable> RegionCompiler::find_or_compile(const Region& region) {
  if (!cache_.is_on() || context_.is_written()) return compile_now(region);
  Key key = key_of(region);
  const std::optional<Artifact> found = find(region, key);
  Region placed = region;
  placed.kept = std::make_shared<ProgramsInCache>(
      maker_->cache(), [this](const std::string& sentence) { warn(sentence); }, key.region.content, artifact_of(region));
  if (found) {
    if (auto executable = load(*found, placed)) return executable;
  }
  return compile_and_keep(placed, key);
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
