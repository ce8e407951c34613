#include "session/binding.h"

#include <algorithm>
#include <bit>

namespace rh {

namespace {

constexpr size_t kRecent = 4;
// From its second growth on a symbol is taken for one that grows step by step, and starts with this much room.
constexpr int64_t kGrowingRoom = 32;
// A limit more than this many times the value is not carried over to a new binding.
constexpr int64_t kSlack = 4;

int64_t bytes_of_elements(int64_t elements, int32_t bits) {
  int64_t total = 0;
  if (elements < 0 || __builtin_mul_overflow(elements, static_cast<int64_t>(bits), &total)) return -1;
  return total / 8 + (total % 8 != 0);
}

}  // namespace

int64_t bucket(int64_t value) {
  if (value <= 16) return value;
  const int64_t step = int64_t{1} << (std::bit_width(static_cast<uint64_t>(value)) - 4);
  return value > std::numeric_limits<int64_t>::max() - step ? value : (value + step - 1) / step * step;
}

std::vector<int64_t> BindingCache::choose_limits(std::span<const int64_t> symbols) {
  std::vector<int64_t> limits(symbols.size());
  const Binding* before = recent_.empty() ? nullptr : recent_.front().get();
  growths_.resize(symbols.size(), 0);
  for (size_t i = 0; i < symbols.size(); ++i) {
    limits[i] = bucket(symbols[i]);
    if (!before) continue;
    const int64_t old = before->limits[i];
    if (symbols[i] <= old) {
      if (old / kSlack <= limits[i]) limits[i] = old;
    } else if (old > 0 && symbols[i] / kSlack <= old) {
      limits[i] = std::max(limits[i], 2 * old);
      if (++growths_[i] > 1) limits[i] = std::max(limits[i], kGrowingRoom);
    }
  }
  return limits;
}

std::shared_ptr<const Binding> BindingCache::find(std::span<const int64_t> symbols) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Binding>* best = nullptr;
  for (auto& candidate : recent_) {
    if (candidate->covers(symbols) && (!best || candidate->arena_bytes < (*best)->arena_bytes)) best = &candidate;
  }
  if (best) return *best;
  auto binding = bind(symbols, choose_limits(symbols));
  made_.fetch_add(1, std::memory_order_relaxed);
  peak_.store(std::max(peak_.load(std::memory_order_relaxed), binding->arena_bytes), std::memory_order_relaxed);
  recent_.insert(recent_.begin(), binding);
  if (recent_.size() > kRecent) recent_.pop_back();
  return binding;
}

std::shared_ptr<const Binding> BindingCache::bind(std::span<const int64_t> symbols, std::vector<int64_t> limits) const {
  // Sizes need not grow with their symbols (a difference does not), so both ends of the range are asked.
  std::vector<int64_t> at_values(static_cast<size_t>(program_.registers())), at_limits(at_values.size());
  std::copy(symbols.begin(), symbols.end(), at_values.begin());
  std::copy(limits.begin(), limits.end(), at_limits.begin());
  program_.evaluate(at_values);
  program_.evaluate(at_limits);
  auto binding = std::make_shared<Binding>();
  binding->limits = std::move(limits);
  binding->bytes.reserve(sizes_.size());
  for (const BufferSize& size : sizes_) {
    int64_t elements = size.constant;
    if (size.elements != SizeProgram::kNone) {
      const size_t r = static_cast<size_t>(size.elements);
      elements = std::max(at_values[r], at_limits[r]);
    }
    const int64_t bytes = bytes_of_elements(elements, size.bits);
    binding->bytes.push_back(bytes > 0 && static_cast<uint64_t>(bytes) > max_buffer_bytes_ ? -1 : bytes);
  }
  MemoryPlan plan = planner_.place(binding->bytes);
  binding->offsets = std::move(plan.offsets);
  binding->arena_bytes = plan.bytes;
  return binding;
}

}  // namespace rh
