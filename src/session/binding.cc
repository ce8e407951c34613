#include "session/binding.h"

#include <algorithm>
#include <bit>

namespace rh {

namespace {

constexpr size_t kRecent = 4;
// What a symbol that grows step by step gets at least.
constexpr int64_t kGrowingRoom = 32;
// Parts lie inside other values where that takes at most so much of the arena more, as 1 / this.
constexpr int64_t kPartsRoom = 16;
// A limit more than this many times the value is not carried over to a new binding.
constexpr int64_t kSlack = 4;

}  // namespace

int64_t BufferSize::bytes(int64_t elements_there) const {
  int64_t total = 0;
  if (elements_there < 0 || __builtin_mul_overflow(elements_there, static_cast<int64_t>(bits), &total)) return -1;
  return total / 8 + (total % 8 != 0);
}

int64_t bucket(int64_t value) {
  if (value <= 16) return value;
  const int64_t step = int64_t{1} << (std::bit_width(static_cast<uint64_t>(value)) - 4);
  return value > std::numeric_limits<int64_t>::max() - step ? value : (value + step - 1) / step * step;
}

void GrowthTracker::note(std::span<const int64_t> symbols) {
  past_.resize(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    Past& past = past_[i];
    const int64_t step = symbols[i] - past.value;
    past.value = symbols[i];
    if (step == 0) continue;
    const bool rise = step > 0 && step <= kStep;
    past.streak = rise ? past.streak + 1 : 0;
    past.rises += rise;
    past.falls += step < 0;
  }
}

std::shared_ptr<const Binding> BindingCache::make(std::span<const int64_t> symbols, const GrowthTracker& growth) const {
  const Binding* before = recent_.empty() ? nullptr : recent_.front().get();
  std::vector<int64_t> limits(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    limits[i] = bucket(symbols[i]);
    if (!before || symbols[i] <= before->limits[i] || !growth.grows(i)) continue;
    limits[i] = std::max({limits[i], kGrowingRoom, before->limits[i] > symbols[i] / kSlack ? 2 * before->limits[i] : 0});
  }
  std::vector<int64_t> wide = limits;
  for (size_t i = 0; before && i < symbols.size(); ++i) {
    if (symbols[i] <= before->limits[i] && before->limits[i] / kSlack <= limits[i]) wide[i] = std::max(wide[i], before->limits[i]);
  }
  auto binding = bind(symbols, limits);
  if (wide == limits) return binding;
  auto wider = bind(symbols, std::move(wide));
  const bool fits = wider->parts_in_place == binding->parts_in_place && wider->arena_bytes <= std::max(peak_bytes(), binding->arena_bytes);
  return fits ? wider : binding;
}

const std::shared_ptr<const Binding>* BindingCache::find_recent(std::span<const int64_t> symbols) const {
  const std::shared_ptr<const Binding>* best = nullptr;
  for (const auto& candidate : recent_) {
    if (candidate->covers(symbols) && (!best || candidate->arena_bytes < (*best)->arena_bytes)) best = &candidate;
  }
  return best;
}

std::shared_ptr<const Binding> BindingCache::preview(std::span<const int64_t> symbols) const {
  const std::lock_guard lock(mutex_);
  const auto* known = find_recent(symbols);
  return known ? *known : make(symbols, {});
}

std::shared_ptr<const Binding> BindingCache::tight(std::span<const int64_t> symbols) const {
  return bind(symbols, {symbols.begin(), symbols.end()});
}

std::shared_ptr<const Binding> BindingCache::find(std::span<const int64_t> symbols, const GrowthTracker& growth) {
  const std::lock_guard lock(mutex_);
  if (const auto* known = find_recent(symbols)) return *known;
  auto binding = make(symbols, growth);
  made_.fetch_add(1, std::memory_order_relaxed);
  peak_.store(std::max(peak_.load(std::memory_order_relaxed), binding->arena_bytes), std::memory_order_relaxed);
  recent_.insert(recent_.begin(), binding);
  if (recent_.size() > kRecent) recent_.pop_back();
  return binding;
}

void BindingCache::forget(const std::shared_ptr<const Binding>& binding) {
  const std::lock_guard lock(mutex_);
  std::erase(recent_, binding);
  int64_t peak = 0;
  for (const auto& other : recent_) peak = std::max(peak, other->arena_bytes);
  peak_.store(peak, std::memory_order_relaxed);
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
    const int64_t bytes = size.bytes(elements);
    binding->bytes.push_back(bytes > 0 && static_cast<uint64_t>(bytes) > max_buffer_bytes_ ? -1 : bytes);
  }
  MemoryPlan plan = planner_.place(binding->bytes);
  binding->planner = &planner_;
  if (in_place_ && !are_units(units_, binding->limits)) {
    binding->units = units_;
  } else if (in_place_) {
    MemoryPlan in_place = in_place_->place(binding->bytes);
    if (in_place.bytes <= plan.bytes + (lean_ ? 0 : plan.bytes / kPartsRoom)) {
      plan = std::move(in_place);
      binding->planner = in_place_;
      binding->parts_in_place = true;
    }
  }
  binding->offsets = std::move(plan.offsets);
  binding->arena_bytes = plan.bytes;
  return binding;
}

}  // namespace rh
