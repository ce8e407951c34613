#pragma once

#include <memory>
#include <optional>
#include <string>

#include "providers/kit/cache/artifact_cache.h"
#include "providers/kit/cache/ep_context.h"
#include "providers/kit/cache/kept_programs.h"
#include "providers/kit/cache/region_key.h"
#include "providers/kit/regions/trials.h"

namespace rh::kit {

/// Makes the executables of a session: by the provider's compile() or, where it has an ArtifactMaker, of what was compiled before, in a
/// model or in the cache.
class RegionCompiler {
 public:
  RegionCompiler(const Host& host, std::string provider_name, RegionProvider& provider, std::string options_key,
                 const OrtSessionOptions& session, const OrtLogger* logger);
  RegionCompiler(const RegionCompiler&) = delete;
  RegionCompiler& operator=(const RegionCompiler&) = delete;

  /// The model of the graph whose regions come next.
  void begin(const OrtGraph& graph) { model_ = model_path(host_, graph); }
  /// From the cache, or compiled now and kept there. Throws Error.
  std::unique_ptr<Executable> find_or_compile(const Region& region);
  /// Whether the node is a region that this provider compiled into a model, which is a unit of its own.
  bool is_compiled(const Node& node) const { return maker_ && context_.is_own(node); }

  struct Compiled {
    std::unique_ptr<Executable> executable;                           ///< null where nobody takes what the region gives
    std::unique_ptr<OrtNode, void(ORT_API_CALL*)(OrtNode*)> context;  ///< stands for the unit in the compiled model; null: it stays
  };
  /// `trials`: where what was compiled already is taken from. Throws Error.
  Compiled compile(const Region& region, const OrtGraph& graph, const OrtNode& unit, Trials& trials);

  /// What compiled models say of their provider; empty where it writes none.
  std::string compatibility_info() const { return maker_ ? maker_->made_by() : std::string(); }

 private:
  std::unique_ptr<Executable> compile_now(const Region& region);
  /// What a region is found by in the cache.
  struct Key {
    std::string context;  ///< what it depends on beside the region
    RegionKey region;
  };
  Key key_of(const Region& region);
  std::optional<Artifact> find(const Region& region, Key& key);
  void keep(const Key& key, Artifact artifact);
  std::unique_ptr<Executable> compile_and_keep(const Region& region, const Key& key);
  std::unique_ptr<Executable> load(const Artifact& artifact, const Region& region);
  std::unique_ptr<Executable> load_compiled(const Region& region, const Node& node, Artifact& artifact);
  Artifact artifact_of(const Region& region) const;
  void write_context(const Region& region, const OrtNode& unit, const Executable& executable, Artifact artifact, Compiled& compiled);
  void warn(const std::string& sentence) const;

  Host host_;
  RegionProvider& provider_;
  std::string provider_name_;
  ArtifactMaker* maker_;
  std::string options_key_, model_;
  const OrtLogger* logger_;
  EpContext context_;
  ArtifactCache cache_;
};

/// How compiled models that say `made_by` fit the provider.
OrtCompiledModelCompatibility compatibility_of(RegionProvider& provider, const std::string& made_by);

}  // namespace rh::kit
