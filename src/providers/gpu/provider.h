#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "providers/gpu/plan/class_plan.h"
#include "providers/kit/ep.h"

namespace rh::gpu {

/// What a vendor's options say.
struct Settings {
  std::string compiler;  ///< a file or a folder; empty: it is looked for
  bool captures = true, recognises = true;
  kit::StreamHandle stream = nullptr;  ///< the caller's, on which runs work; null: the host's
  ArenaSettings arena;
  kit::CacheSettings cache;
};

/// A session's provider for one device of a vendor.
class Provider : public kit::RegionProvider {
 public:
  Provider(const kit::Setup& setup, const Vendor& vendor, const Settings& settings);

  kit::Support supports(const NodeView& node) const override;
  uint64_t host_inputs(const NodeView& node) const override;
  std::optional<kit::CostModel> costs() const override { return kit::CostModel(); }
  std::optional<ArenaSettings> arena() const override { return arena_; }
  kit::StreamHandle make_stream(kit::DeviceDriver& driver) override { return stream_ ? stream_ : driver.make_stream(); }
  std::unique_ptr<kit::Executable> compile(const kit::Region& region) override;

 private:
  std::shared_ptr<const Shared> shared_;
  ArenaSettings arena_;
  kit::StreamHandle stream_;
};

/// The devices that hosts list; none where there is no driver, or it does not start.
std::vector<kit::DeviceSpec> list_devices(const Vendor& vendor);

}  // namespace rh::gpu
