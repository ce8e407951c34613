#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "providers/kit/host/host.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// What took time, for the host's profile.
struct ProfileEvent {
  using Clock = std::chrono::steady_clock;
  std::string name;
  std::string nodes;   ///< names of the model's nodes that it computed, with commas between
  std::string region;  ///< the unit that it was part of
  Clock::time_point begin = {}, end = {};
  size_t thread = 0;
};

/// The profilers of one session's provider that take events now. Thread-safe.
class Profile {
 public:
  /// Whether anybody takes events: where not, nothing need be measured.
  bool is_on() const { return profilers_ > 0; }
  void record(const ProfileEvent& event);

 private:
  friend struct Profiler;
  std::atomic<int> profilers_ = 0;
  std::mutex mutex_;
  std::vector<std::vector<ProfileEvent>*> events_;  ///< of those that have begun
};

/// A profiler for the host, whose own table it is. The profile outlives it.
OrtEpProfilerImpl* make_profiler(const Host& host, std::shared_ptr<Profile> profile);

/// What a unit is called in profiles.
struct ProfiledRegion {
  std::shared_ptr<Profile> profile;
  std::string name, nodes;
};
/// Nodes of bodies included.
std::string node_names(const Graph& graph);

/// The time of a run of a region, from here to its end, of this thread. Kernels that are measured meanwhile are parts of it.
class RegionTime {
 public:
  explicit RegionTime(const ProfiledRegion& region);
  ~RegionTime();
  RegionTime(const RegionTime&) = delete;
  RegionTime& operator=(const RegionTime&) = delete;

 private:
  const ProfiledRegion* region_;  ///< null: nobody takes events
  const ProfiledRegion* around_ = nullptr;
  ProfileEvent::Clock::time_point begin_;
};

/// Whether the run on this thread is profiled: an Executable then measures its kernels.
bool is_profiled();
/// A kernel of that run.
void record_kernel(std::string_view name, std::string_view nodes, ProfileEvent::Clock::time_point begin,
                   ProfileEvent::Clock::time_point end);

}  // namespace rh::kit
