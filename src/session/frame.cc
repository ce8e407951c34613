#include "session/frame.h"

#include <algorithm>
#include <utility>

#include "base/aligned.h"
#include "base/out_of_memory.h"
#include "base/pages.h"
#include "session/executor.h"
#include "session/prepare_memory.h"

namespace rh {

namespace {

constexpr size_t kSmallArena = size_t{2} << 20;  // a large page

size_t aligned_bytes(size_t bytes) {
  if (bytes > kMoreThanMemory) throw OutOfMemory(bytes);
  return std::max(kTensorAlignment, (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment);
}

}  // namespace

bool is_spare_memory(const Value& value) {
  if (!value.is_tensor()) return false;
  const Tensor& tensor = value.tensor();
  return tensor.defined() && tensor.dtype() != DType::string && tensor.device().is_host() && tensor.owner().use_count() == 1;
}

Frame::Frame(const Plan& plan, std::shared_ptr<MemoryAccount> account)
    : plan_(plan),
      account_(std::move(account)),
      values_(plan.slots.size()),
      step_inputs_(plan.step_inputs.size(), nullptr),
      inputs_(plan.inputs.size(), nullptr),
      symbols_(static_cast<size_t>(plan.sizes.symbols()), 0),
      arena_(*account_, MemoryUse::arena),
      blocks_(plan.slots.size()),
      late_types_(static_cast<size_t>(plan.late_typed_steps)),
      runners_(plan.subplans.size()) {
  for (const Place& place : plan.places) {
    caches_.push_back(std::make_unique<BlockCache>(*account_, place.owner ? &place.owner->allocator() : nullptr));
  }
  for (size_t i = 0; i < step_inputs_.size(); ++i) {
    const int32_t slot = plan.step_inputs[i];
    if (slot == kNoSlot) continue;
    const Value* fixed = plan.defaults[static_cast<size_t>(slot)];
    step_inputs_[i] = fixed ? fixed : &values_[static_cast<size_t>(slot)];
  }
}

Frame::~Frame() { end(); }

void Frame::begin(std::span<const Value* const> inputs, std::span<Value> outputs, const RunControls& controls) {
  outputs_ = outputs;
  controls_ = &controls;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* value = inputs[i] ? inputs[i] : plan_.defaults[static_cast<size_t>(plan_.inputs[i])];
    inputs_[i] = value;
    for (int32_t position : plan_.input_positions[i]) step_inputs_[static_cast<size_t>(position)] = value;
  }
  bind();
}

size_t Frame::prepare_arena(size_t most, const Parallel& parallel) {
  if (plan_.sizes.symbols() != 0 || account_->source()) return 0;
  const size_t bytes = static_cast<size_t>(plan_.bindings.preview({})->arena_bytes);
  if (bytes == 0 || bytes > most) return 0;
  bind();
  touch_pages(arena_.data(), bytes, parallel);
  return bytes;
}

void Frame::prepare_small_arena() {
  if (account_->source() || arena_.bytes() != 0) return;
  arena_.resize(kSmallArena);
  touch_pages(arena_.data(), kSmallArena);
}

size_t Frame::prepare_arena(std::span<const int64_t> symbols) {
  if (account_->source()) return 0;
  reserve_arena(plan_.bindings.find(symbols));
  return arena_.bytes();
}

void Frame::bind() {
  std::fill(symbols_.begin(), symbols_.end(), 0);
  for (const SymbolSource& source : plan_.symbol_sources) {
    const Value* value = inputs_[static_cast<size_t>(source.input)];
    if (!value || !value->is_tensor() || source.axis >= value->tensor().shape().rank()) continue;
    int64_t& symbol = symbols_[static_cast<size_t>(source.symbol)];
    symbol = std::max(symbol, value->tensor().shape()[static_cast<size_t>(source.axis)]);
  }
  growth_.note(symbols_);
  if (binding_ && binding_->covers(symbols_)) return place_parts();
  binding_.reset();  // where there is no memory for the new one the next run must not take the frame for bound
  auto binding = plan_.bindings.find(symbols_, growth_);
  try {
    reserve_arena(binding);
  } catch (...) {
    plan_.bindings.forget(binding);
    binding = plan_.bindings.tight(symbols_);
    if (binding->arena_bytes >= refused_->arena_bytes) throw;
    reserve_arena(binding);
  }
  binding_ = std::move(binding);
  place_parts();
}

// Bindings round sizes up; where pieces meet must be exact.
void Frame::place_parts() {
  if (!binding_->parts_in_place || (!parts_.empty() && parts_symbols_ == symbols_)) return;
  registers_.resize(static_cast<size_t>(plan_.sizes.registers()));
  std::copy(symbols_.begin(), symbols_.end(), registers_.begin());
  plan_.sizes.evaluate(registers_);
  const auto bytes_of_size = [&](const BufferSize& size) {
    return size.bytes(size.elements == SizeProgram::kNone ? size.constant : registers_[static_cast<size_t>(size.elements)]);
  };
  parts_.resize(plan_.parts.size());
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i] = {bytes_of_size(plan_.parts[i].offset), bytes_of_size(plan_.parts[i].size)};
  parts_symbols_ = symbols_;
}

void Frame::reserve_arena(const std::shared_ptr<const Binding>& binding) {
  refused_ = binding;
  if (const size_t bytes = static_cast<size_t>(binding->arena_bytes); bytes > arena_.bytes()) {
    if (arena_.bytes() == kSmallArena) arena_.resize(0);  // a page that is moved would not be a large one
    arena_.resize(bytes);
    ++arena_allocations_;
  }
  refused_.reset();
}

void Frame::end() {
  for (int32_t slot : held_) release(slot);
  held_.clear();
  for (auto& [place, block] : extra_) caches_[static_cast<size_t>(place)]->give_back(std::move(block));
  extra_.clear();
  for (const auto& cache : caches_) cache->settle();
  notifications_.clear();
  reset_scratch();
}

const Value* Frame::find(int32_t slot) const {
  const size_t s = static_cast<size_t>(slot);
  if (plan_.slots[s].kind == Slot::Kind::input && plan_.slots[s].index >= 0) return inputs_[static_cast<size_t>(plan_.slots[s].index)];
  return plan_.defaults[s] ? plan_.defaults[s] : &values_[s];
}

// In the arena; null where it has no place there, or a smaller one.
void* Frame::place_of(const Slot& slot, size_t bytes) const {
  const bool is_part = slot.part >= 0 && binding_->parts_in_place;
  const int32_t buffer = is_part ? plan_.slots[static_cast<size_t>(slot.root)].buffer : slot.buffer;
  if (buffer < 0 || binding_->offsets[static_cast<size_t>(buffer)] < 0) return nullptr;
  std::byte* const place = static_cast<std::byte*>(arena_.data()) + binding_->offsets[static_cast<size_t>(buffer)];
  const size_t room = static_cast<size_t>(binding_->bytes[static_cast<size_t>(buffer)]);
  if (!is_part) return bytes <= room ? place : nullptr;
  const PartPlace& part = parts_[static_cast<size_t>(slot.part)];
  if (part.offset < 0 || part.bytes < 0 || bytes != static_cast<size_t>(part.bytes)) return nullptr;
  const size_t offset = static_cast<size_t>(part.offset);
  return offset <= room && bytes <= room - offset ? place + offset : nullptr;
}

void* Frame::memory_of(int32_t slot, size_t bytes) {
  const Slot& target = plan_.slots[static_cast<size_t>(slot)];
  if (void* place = place_of(target, bytes)) return place;
  BlockCache::Block& block = blocks_[static_cast<size_t>(slot)];
  if (block.data() && block.bytes() >= bytes) return block.data();
  if (block.data()) extra_.emplace_back(target.place, std::move(block));
  held_.push_back(slot);
  block = cache_of(slot).take(bytes);
  return block.data();
}

bool Frame::lives_in(int32_t root, const void* data) const {
  const Slot& slot = plan_.slots[static_cast<size_t>(root)];
  if (const BlockCache::Block& block = blocks_[static_cast<size_t>(root)]; block.data() && block.data() == data) return true;
  if (slot.buffer < 0) return false;
  const int64_t offset = binding_->offsets[static_cast<size_t>(slot.buffer)];
  return offset >= 0 && data == static_cast<std::byte*>(arena_.data()) + offset;
}

void* Frame::extra_memory(int32_t slot, size_t bytes) {
  extra_.reserve(extra_.size() + 1);
  extra_.emplace_back(plan_.slots[static_cast<size_t>(slot)].place, cache_of(slot).take(bytes));
  return extra_.back().second.data();
}

Tensor& Frame::staged_input(size_t index, DType dtype, const Shape& shape) {
  staged_.resize(plan_.inputs.size());
  Tensor& tensor = staged_[index];
  if (tensor.defined() && tensor.dtype() == dtype && tensor.elements() == shape.elements()) {
    tensor = tensor.reshaped(shape);
  } else {
    const auto& owner = plan_.places[static_cast<size_t>(plan_.slots[static_cast<size_t>(plan_.inputs[index])].place)].owner;
    tensor = Tensor();
    tensor = owner ? device_tensor(owner, dtype, shape) : Tensor(dtype, shape);
  }
  return tensor;
}

void Frame::set_notification(size_t step, std::unique_ptr<Notification> notification) {
  notifications_.resize(plan_.steps.size());
  notifications_[step] = std::move(notification);
}

void* Frame::scratch_of_arena(size_t bytes) {
  if (!binding_) return nullptr;
  const size_t begin = aligned_bytes(static_cast<size_t>(binding_->arena_bytes)) + arena_scratch_;
  if (begin > arena_.bytes() || bytes > arena_.bytes() - begin) return nullptr;
  arena_scratch_ += bytes;
  return static_cast<std::byte*>(arena_.data()) + begin;
}

void* Frame::scratch(size_t bytes) {
  const size_t need = aligned_bytes(bytes);
  scratch_asked_ += bytes;
  if (void* memory = scratch_of_arena(need)) return memory;
  for (; scratch_chunk_ < scratch_chunks_.size(); ++scratch_chunk_, scratch_used_ = 0) {
    const CountedMemory& chunk = scratch_chunks_[scratch_chunk_];
    if (chunk.bytes() - scratch_used_ < need) continue;
    void* memory = static_cast<std::byte*>(chunk.data()) + scratch_used_;
    scratch_used_ += need;
    return memory;
  }
  const bool first = scratch_chunks_.empty();
  const size_t size = std::max({need, size_t{1} << 16, first ? scratch_wanted_ : 0});
  scratch_chunks_.reserve(scratch_chunks_.size() + 1);
  scratch_chunks_.emplace_back(*account_, MemoryUse::scratch, size);
  scratch_wanted_ = first ? size : scratch_wanted_ + size;
  scratch_used_ = need;
  return scratch_chunks_.back().data();
}

void Frame::keep_spare(int32_t slot, Value value) {
  if (!spares_.empty() && spares_[static_cast<size_t>(slot)].is_wanted && is_spare_memory(value)) {
    spares_[static_cast<size_t>(slot)].value = std::move(value);
  }
}

Value Frame::take_spare(int32_t slot) {
  spares_.resize(values_.size());
  spares_[static_cast<size_t>(slot)].is_wanted = true;
  return std::exchange(spares_[static_cast<size_t>(slot)].value, Value());
}

void Frame::release(int32_t slot) {
  if (!spares_.empty()) keep_spare(slot, std::move(values_[static_cast<size_t>(slot)]));
  values_[static_cast<size_t>(slot)] = Value();
  BlockCache::Block& block = blocks_[static_cast<size_t>(slot)];
  if (block.data()) cache_of(slot).give_back(std::move(block));
}

SubplanRunner& Frame::subplan(int32_t index) {
  auto& runner = runners_[static_cast<size_t>(index)];
  if (!runner) runner = std::make_unique<SubplanRunner>(*plan_.subplans[static_cast<size_t>(index)], *this);
  return *runner;
}

std::vector<TensorMemory> Frame::live_tensors() const {
  std::vector<TensorMemory> tensors;
  if (const Binding* binding = refused_ ? refused_.get() : binding_.get()) {
    tensors = tensors_of(plan_, *binding, binding->planner->peak(binding->bytes).buffers);
  }
  const auto add = [&](size_t slot, size_t bytes) {
    const Node* node = plan_.graph->producer(plan_.slots[slot].value);
    tensors.push_back({plan_.name_of(static_cast<int32_t>(slot)), node ? node->display_name() : std::string(), bytes});
  };
  for (size_t s = 0; s < blocks_.size(); ++s) {
    if (blocks_[s].data()) add(s, blocks_[s].bytes());
  }
  for (int32_t slot : plan_.outputs) {
    const Value& value = values_[static_cast<size_t>(slot)];
    if (plan_.slots[static_cast<size_t>(slot)].kind == Slot::Kind::output && value.is_tensor()) {
      add(static_cast<size_t>(slot), value.tensor().bytes());
    }
  }
  sort_by_size(tensors);
  return tensors;
}

size_t Frame::bytes() const {
  size_t bytes = arena_.bytes();
  for (const auto& cache : caches_) bytes += cache->bytes();
  for (const auto& chunk : scratch_chunks_) bytes += chunk.bytes();
  const auto add_spare = [&](const Value& value) { bytes += is_spare_memory(value) ? value.tensor().bytes() : 0; };
  for (const Spare& spare : spares_) add_spare(spare.value);
  for (const Tensor& tensor : staged_) bytes += tensor.defined() ? tensor.bytes() : 0;
  for (const auto& runner : runners_) {
    if (!runner) continue;
    bytes += runner->frame().bytes();
    std::ranges::for_each(runner->kept(), add_spare);
  }
  return bytes;
}

int64_t Frame::allocations() const {
  int64_t count = arena_allocations_;
  for (const auto& cache : caches_) count += cache->allocations();
  for (const auto& runner : runners_) count += runner ? runner->frame().allocations() : 0;
  return count;
}

}  // namespace rh
