#include "providers/kit/shapes/plan_classes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace rh::kit {

int64_t bucket_end(int64_t size) {
  constexpr int64_t kLeast = 16, kLastPower = 128, kSteps = 8;
  if (size <= 1) return size;
  const auto power = [](int64_t at_least) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(at_least))); };
  if (size <= kLastPower) return std::max(kLeast, power(size));
  const int64_t step = power(size) / 2 / kSteps;
  return (size + step - 1) / step * step;
}

PlanSizes::PlanSizes(Dims inputs, const std::set<std::string, std::less<>>& fixed) : inputs_(std::move(inputs)) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i]) continue;
    for (size_t axis = 0; axis < inputs_[i]->size(); ++axis) {
      Dim& dim = (*inputs_[i])[axis];
      if (dim.is_unknown()) dim = Dim::symbol(fmt::format("?{}.{}", i, axis));
    }
  }
  add_symbols(fixed, false);
  add_symbols(fixed, true);
}

// Symbols that stand alone somewhere are read there; of the others those that stand with a number: past + 1. What is left stands in larger
// expressions, whose sizes make classes of their own (find).
void PlanSizes::add_symbols(const std::set<std::string, std::less<>>& fixed, bool with_offsets) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (size_t axis = 0; inputs_[i] && axis < inputs_[i]->size(); ++axis) {
      const Dim& dim = (*inputs_[i])[axis];
      const int64_t offset = dim.is_constant() || !with_offsets ? 0 : dim.constant_term();
      const std::string name((dim - Dim(offset)).symbol_name());
      if (name.empty() || numbers_.contains(name)) continue;
      numbers_.emplace(name, symbols_.size());
      symbols_.push_back({name, i, axis, offset, fixed.contains(name)});
    }
  }
}

std::optional<int64_t> PlanSizes::size_of(std::string_view name, const std::vector<int64_t>& sizes) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() || found->second >= sizes.size() ? std::nullopt : std::optional(sizes[found->second]);
}

PlanSizes::Found PlanSizes::find(std::span<const TensorView> inputs) const {
  if (inputs.size() != inputs_.size()) {
    fail(ErrorCode::invalid_argument, "a run gives {} inputs, the plan has {}", inputs.size(), inputs_.size());
  }
  Found found;
  const auto has_rank = [&](size_t i) { return inputs_[i] && inputs_[i]->size() == static_cast<size_t>(inputs[i].rank()); };
  for (const Symbol& symbol : symbols_) {
    const bool is_there = has_rank(symbol.input);
    found.sizes.push_back(is_there ? inputs[symbol.input].shape()[static_cast<int>(symbol.axis)] - symbol.offset : -1);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<Shape> said = has_rank(i) ? shape(*inputs_[i], found.sizes) : std::nullopt;
    found.plan.is_exact |= !said || *said != inputs[i].shape();
  }
  if (found.plan.is_exact) {
    for (const TensorView& input : inputs) {
      found.plan.sizes.push_back(input.rank());
      found.plan.sizes.insert(found.plan.sizes.end(), input.shape().begin(), input.shape().end());
    }
    return found;
  }
  for (size_t i = 0; i < symbols_.size(); ++i) found.plan.sizes.push_back(class_size(i, found));
  return found;
}

// A mask's axis is past + 1 long whatever the model names it: a size that is one more than another one grows with it, and stays one more in
// the class. Small sizes are so by chance.
int64_t PlanSizes::class_size(size_t symbol, const Found& found) const {
  constexpr int64_t kLeastRelated = 16;
  const int64_t size = found.sizes[symbol];
  if (symbols_[symbol].is_fixed) return size;
  for (size_t earlier = 0; earlier < symbol; ++earlier) {
    const int64_t apart = size - found.sizes[earlier];
    if (std::abs(apart) != 1 || std::min(size, found.sizes[earlier]) < kLeastRelated || symbols_[earlier].is_fixed) continue;
    return found.plan.sizes[earlier] + apart;
  }
  return bucket_end(size);
}

std::optional<Shape> PlanSizes::shape(const SymbolicShape& dims, const std::vector<int64_t>& sizes) const {
  std::vector<int64_t> numbers;
  for (const Dim& dim : dims) {
    const auto number =
        dim.is_constant() ? std::optional(dim.value()) : dim.evaluate([&](std::string_view name) { return size_of(name, sizes); });
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  return Shape(numbers.data(), numbers.data() + numbers.size());
}

std::shared_ptr<const Plan> PlanCache::get(const PlanClass& plan) {
  const std::shared_ptr<Entry> entry = use(plan);
  const std::lock_guard making(entry->making);
  if (entry->made) return entry->made;
  try {
    entry->made = make_(plan);
    if (!entry->made) fail(ErrorCode::ep_fail, "no plan was made for a class of {} sizes", plan.sizes.size());
  } catch (...) {
    forget(entry);
    throw;
  }
  count(entry, std::max<size_t>(entry->made->bytes(), 1));
  return entry->made;
}

void PlanCache::forget(const std::shared_ptr<Entry>& entry) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(entry->plan);
  if (place == places_.end() || *place->second != entry) return;
  order_.erase(place->second);
  places_.erase(place);
}

std::shared_ptr<PlanCache::Entry> PlanCache::use(const PlanClass& plan) {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(plan);
  if (known != places_.end()) {
    order_.splice(order_.begin(), order_, known->second);
    return order_.front();
  }
  order_.push_front(std::make_shared<Entry>());
  order_.front()->plan = plan;
  places_.emplace(plan, order_.begin());
  return order_.front();
}

// The entry itself stays, even where it alone is above the bound; so do those that are being made.
void PlanCache::count(const std::shared_ptr<Entry>& entry, size_t bytes) {
  std::vector<std::shared_ptr<Entry>> gone;  // freed without the lock
  const std::lock_guard lock(mutex_);
  ++compiled_;
  const auto place = places_.find(entry->plan);
  if (place == places_.end() || *place->second != entry) return;
  entry->bytes = bytes;
  bytes_ += bytes;
  for (auto at = order_.end(); bytes_ > limit_bytes_ && at != order_.begin();) {
    --at;
    if (*at == entry || (*at)->bytes == 0) continue;
    bytes_ -= (*at)->bytes;
    places_.erase((*at)->plan);
    gone.push_back(std::move(*at));
    at = order_.erase(at);
  }
}

size_t PlanCache::compiled() const {
  const std::lock_guard lock(mutex_);
  return compiled_;
}

size_t PlanCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace rh::kit
