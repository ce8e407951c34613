#include "session/profiler.h"

#include <ctime>

#include <fmt/ranges.h>

#include "base/file.h"
#include "base/process.h"

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

// Two profilers of one millisecond get different names.
std::string unique_path(const std::string& stem) {
  static std::mutex mutex;
  static std::string last;
  static int count = 0;
  const std::lock_guard lock(mutex);
  count = stem == last ? count + 1 : 1;
  last = stem;
  return count == 1 ? stem + ".json" : fmt::format("{}_{}.json", stem, count);
}

int64_t microseconds(Profiler::Clock::duration duration) { return std::chrono::duration_cast<std::chrono::microseconds>(duration).count(); }

}  // namespace

Profiler::Profiler(const std::string& prefix, Profiler* also) : also_(also) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
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
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count());
}

void Profiler::add(const Event& event) {
  {
    const std::lock_guard lock(mutex_);
    if (!finished_ && events_.size() < kMaxEvents) events_.push_back(event);
  }
  if (also_) also_->add(event);
}

void Profiler::record_node(const Node& node, std::string_view provider, Clock::time_point begin, const std::string& args) {
  const auto end = Clock::now();
  const std::string name = node.name.empty() ? node.op_type + "_" + std::to_string(node.id) : node.name;
  add({name + "_kernel_time",
       fmt::format(R"("op_name" : {},"provider" : {},"node_index" : "{}"{}{})", json_text(node.op_type), json_text(provider), node.id,
                   args.empty() ? "" : ",", args),
       begin, end, thread_number()});
}

void Profiler::record_session(std::string_view name, Clock::time_point begin) {
  add({std::string(name), {}, begin, Clock::now(), thread_number()});
}

std::string Profiler::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return path_;
  std::string text = "[\n";
  for (const Event& event : events_) {
    text += fmt::format(R"({{"cat" : "{}","pid" :{},"tid" :{},"dur" :{},"ts" :{},"ph" : "X","name" :{},"args" : {{{}}}}})",
                        event.args.empty() ? "Session" : "Node", process_number(), event.thread, microseconds(event.end - event.begin),
                        std::max<int64_t>(0, microseconds(event.begin - start_)), json_text(event.name), event.args);
    text += &event == &events_.back() ? "\n" : ",\n";
  }
  text += "]\n";
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
