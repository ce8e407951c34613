// Counts the calls of each function of a stand-in library, and has them fail as asked: RH_STAND_FAIL="cuMemAlloc_v2@3=2;any@17=719" (the
// third call of the one returns 2, the 17th call of all returns 719). The same by functions that tests look up in the library:
//   long rh_stand_calls(const char* function)                      calls since the last clear; null: of all functions
//   void rh_stand_fail(const char* function, long nth, int error)  the n-th call from now; function "any": of all
//   void rh_stand_clear(void)                                      counts are 0, no failure is planned
//   long rh_stand_ns(const char* function)                         nanoseconds within those calls
#pragma once

#include <atomic>
#include <chrono>

namespace rh::stand {

class CallRecord {
 public:
  explicit CallRecord(const char* name);
  // Counts a call, and returns the error that is planned for it, or 0.
  int begin();
  const char* name() const { return name_; }

 private:
  friend struct AllCalls;
  friend class TimedCall;
  const char* name_;
  std::atomic<long> calls_{0}, nanoseconds_{0};
};

// Adds the time of a call to its record.
class TimedCall {
 public:
  explicit TimedCall(CallRecord& record) : record_(record) {}
  ~TimedCall() {
    record_.nanoseconds_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count();
  }
  TimedCall(const TimedCall&) = delete;

 private:
  CallRecord& record_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rh::stand

#define RH_STAND_EXPORT extern "C" __attribute__((visibility("default")))

// RH_STAND_CALL(CUresult, cuName, (int a), (a)) { body }: the exported function, which counts itself and fails where that is planned.
#define RH_STAND_CALL(type, name, parameters, arguments)                \
  static type name##_body parameters;                                   \
  RH_STAND_EXPORT type name parameters;                                 \
  type name parameters {                                                \
    static ::rh::stand::CallRecord record(#name);                       \
    ::rh::stand::TimedCall timed(record);                               \
    if (int error = record.begin()) return ::rh::stand::planned(error); \
    return name##_body arguments;                                       \
  }                                                                     \
  static type name##_body parameters

namespace rh::stand {
// What a planned error does besides being returned; each library has its own.
int planned(int error);
}  // namespace rh::stand
