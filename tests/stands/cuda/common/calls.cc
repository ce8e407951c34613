#include "stands/cuda/common/calls.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "stands/cuda/common/settings.h"

namespace rh::stand {

struct PlannedFailure {
  std::string function;
  long calls_left;
  int error;
};

struct AllCalls {
  std::mutex mutex;
  std::map<std::string, CallRecord*> records;
  std::vector<PlannedFailure> failures;
  std::atomic<long> total{0};
  std::atomic<bool> any_planned{false};

  AllCalls() {
    std::string plan = text_setting("RH_STAND_FAIL", "");
    for (size_t at = 0; at < plan.size();) {
      size_t end = std::min(plan.find(';', at), plan.size());
      std::string one = plan.substr(at, end - at);
      size_t times = one.find('@'), equals = one.find('=');
      if (times == std::string::npos || equals == std::string::npos || equals < times) {
        std::fprintf(stderr, "stand: RH_STAND_FAIL has '%s', expected FUNCTION@N=ERROR, as in cuMemAlloc_v2@3=2\n", one.c_str());
        std::exit(2);
      }
      failures.push_back({one.substr(0, times), std::atol(one.c_str() + times + 1), std::atoi(one.c_str() + equals + 1)});
      at = end + 1;
    }
    any_planned = !failures.empty();
  }
  static AllCalls& get() {
    static auto* all = new AllCalls;
    return *all;
  }
  int failure_of(const char* name) {
    std::lock_guard lock(mutex);
    int error = 0;
    for (auto& f : failures)
      if ((f.function == "any" || f.function == name) && --f.calls_left == 0) error = f.error;
    return error;
  }
  void clear() {
    std::lock_guard lock(mutex);
    for (auto& [name, record] : records) record->calls_ = record->nanoseconds_ = 0;
    total = 0;
    failures.clear();
    any_planned = false;
  }
  long count(const char* name) {
    if (!name) return total;
    std::lock_guard lock(mutex);
    auto found = records.find(name);
    return found == records.end() ? 0 : found->second->calls_.load();
  }
  long nanoseconds(const char* name) {
    std::lock_guard lock(mutex);
    long sum = 0;
    for (auto& [known, record] : records)
      if (!name || known == name) sum += record->nanoseconds_;
    return sum;
  }
  void write(const std::string& path) {
    std::lock_guard lock(mutex);
    if (FILE* file = std::fopen(path.c_str(), "a")) {
      for (auto& [name, record] : records) std::fprintf(file, "%s %ld\n", name.c_str(), record->calls_.load());
      std::fclose(file);
    }
  }
};

CallRecord::CallRecord(const char* name) : name_(name) {
  auto& all = AllCalls::get();
  std::lock_guard lock(all.mutex);
  all.records[name] = this;
}

int CallRecord::begin() {
  auto& all = AllCalls::get();
  ++calls_;
  ++all.total;
  return all.any_planned ? all.failure_of(name_) : 0;
}

// RH_STAND_COUNTS=FILE: the counts at the end of the program.
struct CountsAtExit {
  CountsAtExit() { AllCalls::get(); }
  ~CountsAtExit() {
    if (std::string path = text_setting("RH_STAND_COUNTS", ""); !path.empty()) AllCalls::get().write(path);
  }
} counts_at_exit;

}  // namespace rh::stand

RH_STAND_EXPORT long rh_stand_calls(const char* function) { return rh::stand::AllCalls::get().count(function); }

RH_STAND_EXPORT long rh_stand_ns(const char* function) { return rh::stand::AllCalls::get().nanoseconds(function); }

RH_STAND_EXPORT void rh_stand_fail(const char* function, long nth, int error) {
  auto& all = rh::stand::AllCalls::get();
  std::lock_guard lock(all.mutex);
  all.failures.push_back({function, nth, error});
  all.any_planned = true;
}

RH_STAND_EXPORT void rh_stand_clear(void) { rh::stand::AllCalls::get().clear(); }
