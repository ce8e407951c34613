#include "providers/plugin/profiling.h"

#include "providers/plugin/call.h"

namespace rh::plugin {

namespace {

class PluginProfiler final : public ProviderProfiler {
 public:
  PluginProfiler(std::shared_ptr<Ep> ep, OrtEpProfilerImpl& impl) : ep_(std::move(ep)), impl_(impl) {}
  ~PluginProfiler() override {
    if (RH_HAS(impl_, 25, Release)) tell([&] { impl_.Release(&impl_); });
  }

  Status start(int64_t offset_ns) override {
    if (!RH_HAS(impl_, 25, StartProfiling)) return {};
    return try_call(ep_->name, "OrtEpProfilerImpl::StartProfiling", [&] { return impl_.StartProfiling(&impl_, offset_ns); });
  }
  // A trace goes on without an event that the plugin could not take.
  void begin_event(uint64_t id) override {
    if (!RH_HAS(impl_, 25, StartEvent)) return;
    (void)try_call(ep_->name, "OrtEpProfilerImpl::StartEvent", [&] { return impl_.StartEvent(&impl_, id); });
  }
  void end_event(uint64_t id, const TraceEvent& event) override {
    if (!RH_HAS(impl_, 25, StopEvent)) return;
    const OrtProfilingEvent view{event};
    (void)try_call(ep_->name, "OrtEpProfilerImpl::StopEvent", [&] { return impl_.StopEvent(&impl_, id, &view); });
  }
  Status finish(std::vector<TraceEvent>& events) override {
    if (!RH_HAS(impl_, 25, EndProfiling)) return {};
    OrtProfilingEventsContainer container;
    Status status = try_call(ep_->name, "OrtEpProfilerImpl::EndProfiling", [&] { return impl_.EndProfiling(&impl_, &container); });
    events.insert(events.end(), std::make_move_iterator(container.events.begin()), std::make_move_iterator(container.events.end()));
    return status;
  }

 private:
  std::shared_ptr<Ep> ep_;
  OrtEpProfilerImpl& impl_;
};

}  // namespace

std::unique_ptr<ProviderProfiler> make_plugin_profiler(std::shared_ptr<Ep> ep) {
  if (!RH_HAS(ep->raw, 25, CreateProfiler)) return nullptr;
  OrtEpProfilerImpl* impl = nullptr;
  call(ep->name, "OrtEp::CreateProfiler", [&] { return ep->raw.CreateProfiler(&ep->raw, &impl); });
  return impl ? std::make_unique<PluginProfiler>(std::move(ep), *impl) : nullptr;
}

}  // namespace rh::plugin
