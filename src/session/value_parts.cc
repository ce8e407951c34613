#include "session/value_parts.h"

#include <algorithm>

namespace rh {

namespace {

// What symbols are taken to be where memory is weighed.
constexpr int64_t kNominalSymbol = 64;

// Values of fewer bytes are copied as fast as they are placed.
constexpr int64_t kLeastBytes = 256;

class PartFinder {
 public:
  PartFinder(Plan& plan, const std::vector<std::vector<int32_t>>& reads, FunctionRef<std::optional<BufferSize>(int32_t)> size_of)
      : plan_(plan), values_(plan.slots.size()), live_(plan.steps.size(), 0) {
    found_.places.resize(plan.slots.size());
    found_.roots.resize(plan.slots.size());
    found_.views.resize(plan.step_outputs.size());
    for (size_t s = 0; s < plan.slots.size(); ++s) {
      values_[s].source = static_cast<int32_t>(s);
      if (plan.slots[s].kind == Slot::Kind::late) values_[s].size = size_of(static_cast<int32_t>(s));
    }
    for (size_t s = 0; s < plan.steps.size(); ++s) note_step(static_cast<int32_t>(s), reads[s]);
    weigh();
  }

  ValueParts run() {
    for (size_t s = plan_.steps.size(); s-- > 0;) {
      if (plan_.steps[s].kernel->joins_along()) join(static_cast<int32_t>(s));
    }
    for (size_t s = 0; s < plan_.steps.size(); ++s) take_views(plan_.steps[s]);
    return std::move(found_);
  }

 private:
  struct Information {
    std::optional<BufferSize> size;
    int64_t bytes = 0;             // nominal
    int32_t source = kNoSlot;      // whose elements it has, under another shape
    int32_t holder = kNoSlot;      // of a part that is taken: where it lies
    int32_t made = -1, last = -1;  // steps; of sources, what is read of views counts
    int32_t begin = 0, end = 0;    // of the memory's life where it is a root
  };

  Information& value(int32_t slot) { return values_[static_cast<size_t>(slot)]; }
  ValueParts::Place& place_of(int32_t slot) { return found_.places[static_cast<size_t>(slot)]; }
  const Slot& slot_of(int32_t slot) const { return plan_.slots[static_cast<size_t>(slot)]; }
  int32_t input_of(const Step& step, int32_t i) const { return plan_.step_inputs[static_cast<size_t>(step.first_input + i)]; }
  int32_t output_of(const Step& step, int32_t i) const { return plan_.step_outputs[static_cast<size_t>(step.first_output + i)]; }

  const TensorType* type_of(int32_t slot) const {
    const ValueType& type = plan_.graph->value(slot_of(slot).value).type;
    return type.is_tensor() && type.tensor().has_rank() ? &type.tensor() : nullptr;
  }

  void note_step(int32_t s, const std::vector<int32_t>& read) {
    const Step& step = plan_.steps[static_cast<size_t>(s)];
    for (int32_t slot : read) value(value(slot).source).last = s;
    for (int32_t o = 0; o < step.output_count; ++o) {
      const int32_t slot = output_of(step, o);
      if (slot == kNoSlot) continue;
      value(slot).made = value(slot).last = s;
      for (const Alias& alias : step.kernel->aliases()) {
        const bool is_view = alias.output == o && alias.kind == Alias::Kind::view && alias.input < step.input_count;
        if (!is_view || input_of(step, alias.input) == kNoSlot || slot_of(slot).kind == Slot::Kind::output) continue;
        value(slot).source = value(input_of(step, alias.input)).source;
        break;
      }
    }
  }

  // Bytes that live at each step where nothing lies inside another value.
  void weigh() {
    std::vector<int64_t> registers(static_cast<size_t>(plan_.sizes.registers()), 0);
    std::fill_n(registers.begin(), plan_.sizes.symbols(), kNominalSymbol);
    plan_.sizes.evaluate(registers);
    for (size_t s = 0; s < values_.size(); ++s) {
      Information& v = values_[s];
      if (!v.size || v.made < 0 || v.source != static_cast<int32_t>(s)) continue;
      const int64_t elements = v.size->elements == SizeProgram::kNone ? v.size->constant : registers[static_cast<size_t>(v.size->elements)];
      v.bytes = std::clamp<int64_t>(v.size->bytes(elements), 0, int64_t{1} << 40);
      v.begin = v.made;
      v.end = v.last;
      add(live_, v.begin, v.end, v.bytes);
    }
    most_ = live_.empty() ? 0 : *std::ranges::max_element(live_);
  }

  // To steps [first, last].
  static void add(std::vector<int64_t>& live, int32_t first, int32_t last, int64_t bytes) {
    for (int32_t s = first; s <= last; ++s) live[static_cast<size_t>(s)] += bytes;
  }

  // The root's memory lives from `begin` to `end`, and `freed` take none any more: done, and true, where that needs no more at the peak.
  bool extend(int32_t root, int32_t begin, int32_t end, const std::vector<int32_t>& freed) {
    std::vector<int64_t> live = live_;
    Information& r = value(root);
    begin = std::min(begin, r.begin);
    end = std::max(end, r.end);
    add(live, begin, r.begin - 1, r.bytes);
    add(live, r.end + 1, end, r.bytes);
    for (int32_t slot : freed) add(live, value(slot).begin, value(slot).end, -value(slot).bytes);
    if (!live.empty() && *std::ranges::max_element(live) > most_) return false;
    live_ = std::move(live);
    r.begin = begin;
    r.end = end;
    return true;
  }

  // Whether elements of dimensions from `axis` on lie without gaps; `units` takes what must be 0 or 1 for that.
  bool is_contiguous(const SymbolicShape& dims, size_t axis, std::vector<SizeProgram::Register>& units) {
    for (size_t i = 0; i < axis; ++i) {
      if (dims[i].is_constant(1)) continue;
      // Of symbols that vary, the first dimension is the likeliest to be 1.
      const std::string_view symbol = dims[i].symbol_name();
      const SizeProgram::Register size = symbol.empty() || i != 0 ? SizeProgram::kNone : plan_.sizes.find_symbol(symbol);
      if (size == SizeProgram::kNone) return false;
      units.push_back(size);
    }
    return true;
  }

  void require(const std::vector<SizeProgram::Register>& units) {
    for (SizeProgram::Register unit : units) {
      if (std::ranges::find(found_.units, unit) == found_.units.end()) found_.units.push_back(unit);
    }
    found_.any = true;
  }

  bool is_on_host(const Step& step, int32_t slot) const { return step.stream == kHostStream && slot_of(slot).place == 0; }

  // --- values that are joined

  struct Piece {
    int32_t slot;
    Dim offset;
  };

  void join(int32_t s) {
    const Step& step = plan_.steps[static_cast<size_t>(s)];
    const int32_t out = output_of(step, 0);
    if (step.output_count != 1 || out == kNoSlot || !is_on_host(step, out)) return;
    const TensorType* type = type_of(out);
    if (slot_of(out).kind != Slot::Kind::late || !type || !value(out).size || value(out).size->bits % 8 != 0 ||
        value(out).bytes < kLeastBytes)
      return;
    const int64_t rank = static_cast<int64_t>(type->dims->size()), axis = *step.kernel->joins_along();
    std::vector<SizeProgram::Register> units;
    if (axis < -rank || axis >= rank || !is_contiguous(*type->dims, static_cast<size_t>(axis < 0 ? axis + rank : axis), units)) return;
    std::vector<Piece> pieces;
    Dim offset = 0;
    for (int32_t i = 0; i < step.input_count; ++i) {
      const int32_t slot = input_of(step, i);
      const TensorType* piece = slot == kNoSlot ? nullptr : type_of(slot);
      if (!piece || piece->dtype != type->dtype) return;
      pieces.push_back({value(slot).source, offset});
      offset = offset + piece->elements();
      if (offset.is_unknown()) return;
    }
    if (lies_ready(pieces, out) || place_pieces(out, pieces)) require(units);
  }

  // All pieces lie in one root already, one after the other.
  bool lies_ready(const std::vector<Piece>& pieces, int32_t out) {
    const ValueParts::Place first = place_of(pieces[0].slot);
    if (first.root == kNoSlot || place_of(out).root != kNoSlot) return false;
    for (const Piece& piece : pieces) {
      const ValueParts::Place& place = place_of(piece.slot);
      if (place.root != first.root || !(place.offset == first.offset + piece.offset)) return false;
    }
    if (!extend(first.root, value(out).made, value(out).last, {out})) return false;
    place_of(out) = first;
    return true;
  }

  bool place_pieces(int32_t out, const std::vector<Piece>& pieces) {
    const ValueParts::Place outer = place_of(out);
    const int32_t root = outer.root == kNoSlot ? out : outer.root;
    std::vector<const Piece*> chosen;
    for (const Piece& piece : pieces) {
      const bool twice = std::ranges::any_of(chosen, [&](const Piece* other) { return other->slot == piece.slot; });
      if (!twice && may_lie_inside(piece.slot, out)) chosen.push_back(&piece);
    }
    // Those that were made long before keep the root's memory for long.
    std::ranges::stable_sort(chosen, [&](const Piece* a, const Piece* b) { return value(a->slot).made > value(b->slot).made; });
    for (; !chosen.empty(); chosen.pop_back()) {
      int32_t last = 0;
      std::vector<int32_t> freed;
      for (const Piece* piece : chosen) {
        freed.push_back(piece->slot);
        last = std::max(last, value(piece->slot).last);
      }
      if (extend(root, value(chosen.back()->slot).made, last, freed)) break;
    }
    for (const Piece* piece : chosen) {
      place_of(piece->slot) = {root, outer.root == kNoSlot ? piece->offset : outer.offset + piece->offset};
    }
    found_.roots[static_cast<size_t>(root)] = found_.roots[static_cast<size_t>(root)] || !chosen.empty();
    return !chosen.empty();
  }

  bool may_lie_inside(int32_t slot, int32_t out) {
    const Information& v = value(slot);
    return slot_of(slot).kind == Slot::Kind::late && v.made >= 0 && v.source == slot && v.size && v.size->bits == value(out).size->bits &&
           place_of(slot).root == kNoSlot && is_on_host(plan_.steps[static_cast<size_t>(v.made)], slot);
  }

  // --- values that are taken from one

  void take_views(const Step& step) {
    std::vector<Taken> taken;
    for (const Alias& alias : step.kernel->aliases()) {
      if (alias.kind != Alias::Kind::part || alias.output >= step.output_count || alias.input >= step.input_count) continue;
      const int32_t out = output_of(step, alias.output), in = input_of(step, alias.input);
      if (out == kNoSlot || in == kNoSlot) continue;
      Taken one{out, root_of(value(in).source), step.first_output + alias.output, {}};
      if (is_part(step, out, in, one.units)) taken.push_back(std::move(one));
    }
    if (take(taken)) return;
    for (const Taken& one : taken) take({&one, 1});
  }

  struct Taken {
    int32_t out, root, position;
    std::vector<SizeProgram::Register> units;
  };

  // All of them, parts of one root, are kept in its memory; false, with nothing done, where that needs more at the peak.
  bool take(std::span<const Taken> taken) {
    if (taken.empty()) return true;
    int32_t last = 0;
    std::vector<int32_t> freed;
    for (const Taken& one : taken) {
      freed.push_back(one.out);
      last = std::max(last, value(one.out).last);
    }
    if (!keeps(taken[0].root, last, freed)) return false;
    for (const Taken& one : taken) {
      value(one.out).holder = one.root;
      found_.views[static_cast<size_t>(one.position)] = true;
      require(one.units);
    }
    return true;
  }

  bool is_part(const Step& step, int32_t out, int32_t in, std::vector<SizeProgram::Register>& units) {
    const TensorType *whole = type_of(in), *part = type_of(out);
    if (!is_on_host(step, out) || slot_of(in).place != 0 || !whole || !part || whole->dtype != part->dtype) return false;
    if (slot_of(out).kind != Slot::Kind::late || !value(out).size || value(out).size->bits % 8 != 0 || value(out).bytes < kLeastBytes)
      return false;
    if (place_of(out).root != kNoSlot || found_.roots[static_cast<size_t>(out)]) return false;
    const SymbolicShape &from = *whole->dims, &to = *part->dims;
    if (from.size() != to.size()) return false;
    size_t axis = 0;
    while (axis < to.size() && from[axis] == to[axis]) ++axis;
    for (size_t i = axis + 1; i < to.size(); ++i) {
      if (!(from[i] == to[i])) return false;
    }
    return axis == to.size() || is_contiguous(to, axis, units);
  }

  int32_t root_of(int32_t source) {
    if (value(source).holder != kNoSlot) return value(source).holder;
    return place_of(source).root == kNoSlot ? source : place_of(source).root;
  }

  // The memory of `root` is kept up to a step.
  bool keeps(int32_t root, int32_t last, const std::vector<int32_t>& freed) {
    const Slot::Kind kind = slot_of(root).kind;
    if (kind == Slot::Kind::input || kind == Slot::Kind::constant) return true;
    if (kind != Slot::Kind::late || !value(root).size || value(root).made < 0) return false;
    return extend(root, value(root).begin, last, freed);
  }

  Plan& plan_;
  ValueParts found_;
  std::vector<Information> values_;  // by slot
  std::vector<int64_t> live_;        // by step: nominal bytes
  int64_t most_ = 0;
};

}  // namespace

ValueParts find_value_parts(Plan& plan, const std::vector<std::vector<int32_t>>& reads,
                            FunctionRef<std::optional<BufferSize>(int32_t)> size_of) {
  return PartFinder(plan, reads, size_of).run();
}

}  // namespace rh
