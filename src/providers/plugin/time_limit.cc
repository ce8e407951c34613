#include "providers/plugin/time_limit.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/start_thread.h"
#include "settings/keys.h"

namespace rh::plugin {

namespace {

constexpr std::chrono::milliseconds kDefaultLimit{30'000};

struct Call {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<Status> status;
};

}  // namespace

std::chrono::milliseconds time_limit_of(std::optional<uint32_t> said) { return said ? std::chrono::milliseconds(*said) : kDefaultLimit; }

Status call_in_time(std::string_view provider, std::string_view function, std::chrono::milliseconds limit, std::function<Status()> work,
                    std::shared_ptr<const void> kept, bool* hung) {
  if (limit.count() == 0) return work();
  auto call = std::make_shared<Call>();
  start_thread([call, work = std::move(work), kept = std::move(kept)]() mutable {
    Status status = work();
    work = nullptr;
    kept = nullptr;
    const std::lock_guard lock(call->mutex);
    call->status = std::move(status);
    call->done.notify_all();
  }).detach();
  std::unique_lock lock(call->mutex);
  if (call->done.wait_for(lock, limit, [&] { return call->status.has_value(); })) return std::move(*call->status);
  if (hung) *hung = true;
  return error_status(ErrorCode::ep_fail,
                      "{}: {} did not return in {} ms: its library was left behind; make the provider answer, or give it longer in '{}'",
                      provider, function, limit.count(), kKeyOf<&Settings::plugin_timeout_ms>);
}

}  // namespace rh::plugin
