#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "providers/kit/cache/owned_bytes.h"
#include "providers/kit/host/options.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// Where the cache of artifacts lies, and how large it may be.
struct CacheSettings {
  std::string folder;  ///< empty: nothing is kept
  uint64_t limit_bytes = uint64_t{4} << 30;
};

/// Rows for the options of a provider with a cache, which its cache() reads by cache_settings().
inline constexpr OptionRow kCacheOption = {.name = "cache",
                                           .type = OptionRow::Type::flag,
                                           .otherwise = "1",
                                           .effect = "whether compiled regions are kept on disk",
                                           .is_in_key = false};
inline constexpr OptionRow kCacheFolderOption = {.name = "cache_dir",
                                                 .type = OptionRow::Type::text,
                                                 .otherwise = "",
                                                 .effect = "the cache's folder, by default `roundhouse` in the user's folder for caches",
                                                 .is_in_key = false};
inline constexpr OptionRow kCacheLimitOption = {.name = "cache_mb",
                                                .type = OptionRow::Type::integer,
                                                .otherwise = "4096",
                                                .effect = "the cache's size, above which what was not used for longest goes",
                                                .least = 1,
                                                .most = 1 << 24,
                                                .is_in_key = false};
CacheSettings cache_settings(const Options& options);

/// How what was compiled fits the library and the device that are here.
enum class Fit : uint8_t { best, works, no };

/// What a provider does whose compiled regions can be written down: the kit then keeps them in the cache (artifact_cache.h), and writes and
/// reads models that were compiled ahead of time (ep_context.h). RegionProvider::artifacts() gives it.
class ArtifactMaker {
 public:
  virtual ~ArtifactMaker() = default;
  /// What the bytes depend on beside region and options, in a line: the vendor's library with its version, and the device.
  virtual std::string made_by() const = 0;
  /// What the bytes depend on beside these and the options as they are written: what is in files that options name, the session's threads.
  virtual std::string settings() const { return {}; }
  /// Of an executable that compile() gave. Throws Error.
  virtual std::string save(const Executable& executable) const = 0;
  /// Whether an executable that compile() gave has yet to compile, as runs bring sizes: its programs go to Region::kept, and no model that
  /// is compiled ahead of time has it. What save() gives of it says so to load().
  virtual bool is_open(const Executable& executable) const {
    (void)executable;
    return false;
  }
  /// The region has the inputs and outputs of the one that was compiled, in their order, but its graph may be one node that stands for it.
  /// Who reads the bytes later on keeps their owner. Throws Error.
  virtual std::unique_ptr<Executable> load(const OwnedBytes& bytes, const Region& region) = 0;
  /// Whether load() takes what `made_by` made.
  virtual Fit fits(std::string_view made_by) const { return made_by == this->made_by() ? Fit::best : Fit::no; }
  virtual CacheSettings cache() const { return {}; }
};

}  // namespace rh::kit
