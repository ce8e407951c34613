#include "session/profiler.h"

#include <atomic>
#include <ctime>

#include <fmt/ranges.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/fork_mutex.h"
#include "base/json_text.h"
#include "base/process.h"

namespace rh {

namespace {

// An event list that outgrows this keeps its beginning.
constexpr size_t kMaxEvents = 1'000'000;

struct LastPath {
  ForkMutex mutex;
  std::string stem;
  int count = 0;
};
constinit ForkOnce<LastPath> g_last_path;

// Two profilers of one millisecond get different names.
std::string unique_path(const std::string& stem) {
  auto& [mutex, last, count] = g_last_path.get();
  const std::lock_guard lock(mutex);
  count = stem == last ? count + 1 : 1;
  last = stem;
  return count == 1 ? stem + ".json" : fmt::format("{}_{}.json", stem, count);
}

int64_t microseconds(Profiler::Clock::duration duration) { return std::chrono::duration_cast<std::chrono::microseconds>(duration).count(); }

}  // namespace

Profiler::Profiler(const std::string& prefix, Profiler* also) : also_(also) {
  const auto now = system_start_;
  const std::tm local = local_time(std::chrono::system_clock::to_time_t(now));
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d_%H-%M-%S", &local);
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  path_ = unique_path(fmt::format("{}_{}_{:03}", prefix, text, since_epoch % 1000));
}

Profiler::~Profiler() {
  try {
    finish();
  } catch (const std::exception&) {  // the caller who wants to know calls finish()
  }
}

uint64_t Profiler::start_ns() const {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(system_start_.time_since_epoch()).count());
}

void Profiler::attach(std::vector<std::unique_ptr<ProviderProfiler>> providers) {
  const auto offset = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  for (auto& provider : providers) {
    if (const Status status = provider->start(offset); !status.ok()) fail(status.code(), "{}", status.message());
    providers_.push_back(std::move(provider));
  }
}

Profiler::Mark Profiler::begin() {
  static std::atomic<uint64_t> last{0};
  Mark mark{Clock::now(), last.fetch_add(1, std::memory_order_relaxed) + 1};
  for (Profiler* each = this; each; each = each->also_) {
    if (each->finished_) continue;
    for (const auto& provider : each->providers_) provider->begin_event(mark.id);
  }
  return mark;
}

void Profiler::add(const Event& event, uint64_t id, std::map<std::string, std::string> facts) {
  if (!providers_.empty() && !finished_) {
    TraceEvent seen;
    seen.arguments = facts;
    seen.category = event.args.empty() ? TraceEvent::Category::session : TraceEvent::Category::node;
    seen.name = event.name;
    seen.process = static_cast<int32_t>(process_number());
    seen.thread = static_cast<int32_t>(event.thread);
    seen.begin_us = microseconds(event.begin - start_);
    seen.duration_us = microseconds(event.end - event.begin);
    for (const auto& provider : providers_) provider->end_event(id, seen);
  }
  {
    const std::lock_guard lock(mutex_);
    if (!finished_ && events_.size() < kMaxEvents) events_.push_back(event);
  }
  if (also_) also_->add(event, id, std::move(facts));
}

void Profiler::record_node(const Node& node, std::string_view provider, const Mark& begin, const std::string& args) {
  const auto end = Clock::now();
  const std::string name = node.name.empty() ? node.op_type + "_" + std::to_string(node.id) : node.name;
  add({name + "_kernel_time",
       fmt::format(R"("op_name" : {},"provider" : {},"node_index" : "{}"{}{})", json_text(node.op_type), json_text(provider), node.id,
                   args.empty() ? "" : ",", args),
       begin.time, end, thread_number()},
      begin.id, {{"op_name", node.op_type}, {"provider", std::string(provider)}, {"node_index", std::to_string(node.id)}});
}

void Profiler::record_session(std::string_view name, const Mark& begin) {
  add({std::string(name), {}, begin.time, Clock::now(), thread_number()}, begin.id, {});
}

void Profiler::collect(std::string& text) {
  constexpr const char* kCategories[] = {"Session", "Node", "Kernel", "Api"};
  std::vector<TraceEvent> events;
  for (const auto& provider : providers_) {
    if (const Status status = provider->finish(events); !status.ok()) {
      events.push_back({.name = std::string(status.message()), .process = static_cast<int32_t>(process_number())});
    }
  }
  for (const TraceEvent& event : events) {
    std::string arguments;
    for (const auto& [key, value] : event.arguments) {
      arguments += fmt::format("{}{} : {}", arguments.empty() ? "" : ",", json_text(key), json_text(value));
    }
    text += fmt::format(R"({}{{"cat" : "{}","pid" :{},"tid" :{},"dur" :{},"ts" :{},"ph" : "X","name" :{},"args" : {{{}}}}})",
                        text.size() > 2 ? ",\n" : "", kCategories[static_cast<size_t>(event.category)], event.process, event.thread,
                        event.duration_us, event.begin_us, json_text(event.name), arguments);
  }
}

std::string Profiler::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return path_;
  std::string text = "[\n";
  for (const Event& event : events_) {
    text += fmt::format(R"({}{{"cat" : "{}","pid" :{},"tid" :{},"dur" :{},"ts" :{},"ph" : "X","name" :{},"args" : {{{}}}}})",
                        text.size() > 2 ? ",\n" : "", event.args.empty() ? "Session" : "Node", process_number(), event.thread,
                        microseconds(event.end - event.begin), std::max<int64_t>(0, microseconds(event.begin - start_)),
                        json_text(event.name), event.args);
  }
  collect(text);
  text += text.size() > 2 ? "\n]\n" : "]\n";
  write_file(path_, text);
  finished_ = true;
  events_.clear();
  return path_;
}

std::string type_shapes(std::span<const Value* const> values) {
  std::string text = "[";
  for (const Value* value : values) {
    if (!value || !value->is_tensor() || !value->tensor().defined()) continue;
    const Tensor& tensor = value->tensor();
    if (text.size() > 1) text += ',';
    text += fmt::format(R"({{"{}":[{}]}})", to_string(tensor.dtype()), fmt::join(tensor.shape(), ","));
  }
  return text + "]";
}

}  // namespace rh
