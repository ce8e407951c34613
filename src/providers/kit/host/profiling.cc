#include "providers/kit/host/profiling.h"

#include <algorithm>
#include <thread>

#include "base/process.h"

namespace rh::kit {

namespace {

thread_local const ProfiledRegion* running = nullptr;

size_t this_thread() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }

int64_t microseconds(ProfileEvent::Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

void add_names(const Graph& graph, std::string& names) {
  for (NodeId id : graph.topological_order()) {
    names += (names.empty() ? "" : ",") + graph.node(id).display_name();
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { add_names(body, names); });
  }
}

}  // namespace

void Profile::record(const ProfileEvent& event) {
  const std::lock_guard lock(mutex_);
  for (std::vector<ProfileEvent>* events : events_) events->push_back(event);
}

/// One trace of the host's.
struct Profiler : OrtEpProfilerImpl {
  Profiler(const Host& of, std::shared_ptr<Profile> whole) : OrtEpProfilerImpl{}, host(of), profile(std::move(whole)) {
    ort_version_supported = host.version;
    Release = [](OrtEpProfilerImpl* self) { delete static_cast<Profiler*>(self); };
    StartProfiling = [](OrtEpProfilerImpl* self, int64_t offset_ns) {
      auto& own = *static_cast<Profiler*>(self);
      return guard(*own.host.api, [&] { own.start(offset_ns); });
    };
    StartEvent = [](OrtEpProfilerImpl*, uint64_t) -> OrtStatus* { return nullptr; };
    StopEvent = [](OrtEpProfilerImpl*, uint64_t, const OrtProfilingEvent*) -> OrtStatus* { return nullptr; };
    EndProfiling = [](OrtEpProfilerImpl* self, OrtProfilingEventsContainer* container) {
      auto& own = *static_cast<Profiler*>(self);
      return guard(*own.host.api, [&] { own.finish(container); });
    };
  }
  ~Profiler() { stop(); }

  void start(int64_t offset_ns) {
    const std::lock_guard lock(profile->mutex_);
    began = ProfileEvent::Clock::now() - std::chrono::nanoseconds(offset_ns);
    if (std::ranges::find(profile->events_, &events) != profile->events_.end()) return;
    profile->events_.push_back(&events);
    ++profile->profilers_;
  }

  void stop() {
    const std::lock_guard lock(profile->mutex_);
    if (std::erase(profile->events_, &events) > 0) --profile->profilers_;
  }

  void finish(OrtProfilingEventsContainer* container) {
    stop();
    using Owner = std::unique_ptr<OrtProfilingEvent, void(ORT_API_CALL*)(OrtProfilingEvent*)>;
    std::vector<Owner> made;
    std::vector<const OrtProfilingEvent*> list;
    for (const ProfileEvent& event : events) {
      const char* keys[] = {"nodes", "region"};
      const char* values[] = {event.nodes.c_str(), event.region.c_str()};
      OrtProfilingEvent* one = nullptr;
      check(host, host.ep->CreateProfilingEvent(OrtProfilingEventCategory_KERNEL, process_number(),
                                                static_cast<int32_t>(event.thread & 0x7fffffff), event.name.c_str(),
                                                microseconds(event.begin - began), microseconds(event.end - event.begin), keys, values,
                                                std::size(keys), &one));
      made.emplace_back(one, host.ep->ReleaseProfilingEvent);
      list.push_back(one);
    }
    events.clear();
    if (!list.empty()) check(host, host.ep->ProfilingEventsContainer_AddEvents(container, list.data(), list.size()));
  }

  Host host;
  std::shared_ptr<Profile> profile;
  std::vector<ProfileEvent> events;  ///< written under the profile's mutex until stop()
  ProfileEvent::Clock::time_point began;
};

OrtEpProfilerImpl* make_profiler(const Host& host, std::shared_ptr<Profile> profile) { return new Profiler(host, std::move(profile)); }

std::string node_names(const Graph& graph) {
  std::string names;
  add_names(graph, names);
  return names;
}

RegionTime::RegionTime(const ProfiledRegion& region) : region_(region.profile && region.profile->is_on() ? &region : nullptr) {
  if (!region_) return;
  around_ = std::exchange(running, region_);
  begin_ = ProfileEvent::Clock::now();
}

RegionTime::~RegionTime() {
  if (!region_) return;
  running = around_;
  try {
    region_->profile->record({region_->name, region_->nodes, region_->name, begin_, ProfileEvent::Clock::now(), this_thread()});
  } catch (...) {  // there is no memory for the event, which is left out
  }
}

bool is_profiled() { return running != nullptr; }

void record_kernel(std::string_view name, std::string_view nodes, ProfileEvent::Clock::time_point begin,
                   ProfileEvent::Clock::time_point end) {
  if (running) running->profile->record({std::string(name), std::string(nodes), running->name, begin, end, this_thread()});
}

}  // namespace rh::kit
