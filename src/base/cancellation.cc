#include "base/cancellation.h"

#include <algorithm>

namespace rh {

namespace {
thread_local const Cancellation* t_cancellation = nullptr;

// Later than any limit that can be counted from now without overflow.
constexpr std::chrono::milliseconds kLongestLimit = std::chrono::hours(24 * 365);
}  // namespace

Cancellation::Cancellation(const std::atomic<bool>* flag, ErrorCode code, const char* message,
                           std::optional<std::chrono::milliseconds> limit)
    : flag_(flag), code_(code), message_(message), limit_(limit) {
  if (limit_) deadline_ = Clock::now() + std::min(*limit_, kLongestLimit);
}

void Cancellation::stop() const {
  if (flagged()) fail(code_, "{}", message_);
  fail(ErrorCode::fail, "the run was stopped: its time limit of {} ms has passed", limit_->count());
}

const Cancellation* current_cancellation() { return t_cancellation; }

CancellationScope::CancellationScope(const Cancellation* cancellation) : before_(t_cancellation) { t_cancellation = cancellation; }
CancellationScope::~CancellationScope() { t_cancellation = before_; }

}  // namespace rh
