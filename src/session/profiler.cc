#include "session/profiler.h"

#include <ctime>
#include <thread>

#include "base/file.h"

namespace rh {

namespace {

// An event list that outgrows this keeps its beginning.
constexpr size_t kMaxEvents = 1'000'000;

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace

Profiler::Profiler(const std::string& prefix) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d_%H-%M-%S", &local);
  path_ = prefix + "_" + text + ".json";
}

Profiler::~Profiler() {
  try {
    finish();
  } catch (const std::exception&) {  // the caller who wants to know calls finish()
  }
}

uint64_t Profiler::now_us() const {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start_).count());
}

uint64_t Profiler::start_ns() const {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count());
}

void Profiler::add(Event event) {
  event.duration_us = now_us() - event.begin_us;
  event.thread = std::hash<std::thread::id>()(std::this_thread::get_id()) & 0xffffffff;
  const std::lock_guard lock(mutex_);
  if (!finished_ && events_.size() < kMaxEvents) events_.push_back(std::move(event));
}

void Profiler::record_node(const Node& node, std::string_view provider, uint64_t begin_us) {
  const std::string name = node.name.empty() ? node.op_type + "_" + std::to_string(node.id) : node.name;
  add({name + "_kernel_time", node.op_type, provider, begin_us, 0, 0});
}

void Profiler::record_session(std::string_view name, uint64_t begin_us) { add({std::string(name), {}, {}, begin_us, 0, 0}); }

std::string Profiler::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return path_;
  std::string text = "[\n";
  for (const Event& event : events_) {
    text += fmt::format(R"({{"cat":"{}","pid":1,"tid":{},"dur":{},"ts":{},"ph":"X","name":{},"args":{{)",
                        event.op.empty() ? "Session" : "Node", event.thread, event.duration_us, event.begin_us, json_text(event.name));
    if (!event.op.empty()) text += R"("op_name":)" + json_text(event.op) + R"(,"provider":)" + json_text(event.provider);
    text += &event == &events_.back() ? "}}\n" : "}},\n";
  }
  text += "]\n";
  write_file(path_, text);
  finished_ = true;
  events_.clear();
  return path_;
}

}  // namespace rh
