#include "compute/quant/int8_gemm.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "base/shared_bytes.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/quant/int8_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kMostRows = 12;  // of a tile: 13 and 14 took 1.04 of the time with 64 rows of 512
constexpr int64_t kTileColumns = 256;
constexpr int64_t kRightBytes = 512 << 10;  // of B that is walked again for each chunk of rows
constexpr int64_t kLeftBytes = 256 << 10;   // of A that is laid out at once
constexpr size_t kSlackBytes = 64;          // behind panels, which kernels may read
constexpr double kMostRests = 0.15;         // of all groups: with more of them kernels that need none are faster
constexpr int64_t kPanelsAtOnce = 16;       // that are packed side by side: whole lines of B are read

uint32_t product(int32_t a, int32_t b) { return static_cast<uint32_t>(a) * static_cast<uint32_t>(b); }

/// One product; values and zero points are those that the kernels see, A unsigned and B signed.
class Product {
 public:
  Product(const Int8GemmArgs& args, const PackedInt8Matrix& b, Int8Epilogue epilogue)
      : args_(args),
        b_(b),
        epilogue_(epilogue),
        kernels_(b.kernels()),
        flip_(int8_flip(args.a.is_signed, false)),
        groups_(int8_groups(b.k())),
        stride_(args.a.stride ? args.a.stride : b.k()),
        row_chunks_((args.m + tile_rows() - 1) / tile_rows()),
        panels_((b.n() + kernels_.columns - 1) / kernels_.columns) {
    b_uniform_ = true;
    for (int64_t j = 0; j < b.n() && args.b_zero.many; ++j) b_uniform_ &= b_zero(j) == b_zero(0);
    needs_row_sums_ = !b_uniform_ || b_zero(0) != 0;
    in_place_ = flip_ == 0 && kernels_.left_bytes == 1 && b.k() % kInt8Group == 0 && !needs_row_sums_;
    fill_column_start();
  }

  void run(const Parallel& parallel) const {
    const double m = static_cast<double>(args_.m), n = static_cast<double>(b_.n()), k = static_cast<double>(b_.k());
    const Grid grid = choose_grid(row_chunks_, panels_, 0.3 * m * n * k + m * n, m * k, n * k, parallel.threads());
    parallel.for_pieces(grid.pieces(), [&](int64_t piece) {
      run_piece(share_of(row_chunks_, grid.rows, piece / grid.columns), share_of(panels_, grid.columns, piece % grid.columns));
    });
  }

 private:
  int64_t tile_rows() const { return std::min(kernels_.rows, kMostRows); }
  int32_t a_zero(int64_t i) const { return args_.a_zero.at(i) + int8_shift(args_.a.is_signed, false); }
  int32_t b_zero(int64_t j) const { return args_.b_zero.at(j) + int8_shift(b_.is_signed(), true); }
  // What the zero points of A take from a column.
  uint32_t column_term(int32_t zero, int64_t j) const {
    return product(zero, b_.column_sums()[j]) - product(zero, static_cast<int32_t>(product(static_cast<int32_t>(b_.k()), b_zero(j))));
  }

  void fill_column_start() {
    const int64_t columns = panels_ * kernels_.columns;
    // Of the calling thread, while all read it: a slot that no part of a product takes.
    column_start_ = static_cast<int32_t*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(columns) * sizeof(int32_t)));
    std::fill_n(column_start_, columns, 0);
    if (b_uniform_ && !args_.a_zero.many && b_.n() > 0) {  // without a question a column: products of one row are as short as this
      const auto zero = static_cast<uint32_t>(a_zero(0));
      const uint32_t all = zero * static_cast<uint32_t>(b_.k()) * static_cast<uint32_t>(b_zero(0));
      for (int64_t j = 0; j < b_.n() && args_.bias; ++j) column_start_[j] = args_.bias[j];
      const int32_t* sums = b_.column_sums();
      for (int64_t j = 0; j < b_.n(); ++j)
        column_start_[j] = static_cast<int32_t>(static_cast<uint32_t>(column_start_[j]) + all - zero * static_cast<uint32_t>(sums[j]));
      return;
    }
    for (int64_t j = 0; j < b_.n(); ++j) {
      uint32_t start = args_.bias ? static_cast<uint32_t>(args_.bias[j]) : 0;
      if (!args_.a_zero.many) start -= column_term(a_zero(0), j);
      column_start_[j] = static_cast<int32_t>(start);
    }
  }

  void run_piece(const Part& chunks, const Part& panels) const {
    const int64_t row_bytes = groups_ * kInt8Group * kernels_.left_bytes;
    const int64_t chunks_at_once = std::max<int64_t>(1, kLeftBytes / std::max<int64_t>(1, row_bytes * tile_rows()));
    for (int64_t first = chunks.begin; first < chunks.begin + chunks.size; first += chunks_at_once) {
      run_rows(first, std::min(first + chunks_at_once, chunks.begin + chunks.size), panels);
    }
  }

  void run_rows(int64_t first, int64_t end, const Part& panels) const {
    const int64_t begin = part_of(args_.m, row_chunks_, first).begin;
    const Part last = part_of(args_.m, row_chunks_, end - 1);
    const int64_t rows = last.begin + last.size - begin, padded = groups_ * kInt8Group;
    const auto* a = static_cast<const uint8_t*>(args_.a.data) + begin * stride_;
    // Sums of the rows first, then the rows themselves.
    const int64_t head = (rows * static_cast<int64_t>(sizeof(int32_t)) + 63) / 64 * 64;
    auto* memory =
        static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(head + rows * padded * kernels_.left_bytes)));
    auto* row_sums = reinterpret_cast<int32_t*>(memory);
    const void* left = a;
    if (in_place_) {
      std::fill_n(row_sums, rows, 0);
    } else {
      left = memory + head;
      for (int64_t i = 0; i < rows; ++i) {
        row_sums[i] = int8_pack_left(a + i * stride_, b_.k(), padded, flip_, false, kernels_.left_bytes,
                                     memory + head + i * padded * kernels_.left_bytes);
      }
    }
    const int64_t panel_bytes = padded * kernels_.columns;
    const int64_t at_once =
        std::clamp<int64_t>(panel_bytes ? kRightBytes / panel_bytes : 1, 1, std::max<int64_t>(1, kTileColumns / kernels_.columns));
    for (int64_t panel = panels.begin; panel < panels.begin + panels.size; panel += at_once) {
      const int64_t end_panel = std::min(panel + at_once, panels.begin + panels.size);
      for (int64_t chunk = first; chunk < end; ++chunk) {
        const Part part = part_of(args_.m, row_chunks_, chunk);
        const int64_t at = part.begin - begin, a_row = in_place_ ? stride_ : padded;
        run_tile(part, static_cast<const uint8_t*>(left) + at * a_row * kernels_.left_bytes, a_row, row_sums + at, panel, end_panel);
      }
    }
  }

  void run_tile(const Part& rows, const void* left, int64_t a_row, const int32_t* row_sums, int64_t panel, int64_t end_panel) const {
    const int64_t width = kernels_.columns, stride = (end_panel - panel) * width;
    auto* tile =
        static_cast<int32_t*>(thread_scratch(ScratchSlot::row, static_cast<size_t>((rows.size * stride + rows.size)) * sizeof(int32_t)));
    int32_t* row_start = tile + rows.size * stride;
    for (int64_t i = 0; i < rows.size; ++i) {
      row_start[i] = b_uniform_ ? static_cast<int32_t>(0u - product(b_zero(0), row_sums[i])) : 0;
    }
    int64_t row_offset[kInt8MaxRows];
    const int64_t segment_offset = 0;
    for (int64_t i = 0; i < rows.size; ++i) row_offset[i] = i * a_row * kernels_.left_bytes;
    Int8MicroArgs p{.groups = groups_, .segments = 1, .a = left, .row_offset = row_offset, .segment_offset = &segment_offset};
    p.row_start = row_start;
    p.c_row = stride;
    for (int64_t i = panel; i < end_panel; ++i) {
      p.b = b_.panel(i);
      p.rests = b_.rests(i);
      p.c = tile + (i - panel) * width;
      p.column_start = column_start_ + i * width;
      kernels_.of_columns(b_.n() - i * width)[rows.size](p);
    }
    const int64_t column = panel * width;
    const Int8Tile result{rows.begin, column, rows.size, std::min(stride, b_.n() - column), tile, stride};
    correct(result, row_sums);
    epilogue_(result);
  }

  /// What could not be put into the sums beforehand: zero points that differ from row to row or from column to column.
  void correct(const Int8Tile& tile, const int32_t* row_sums) const {
    if (b_uniform_ && !args_.a_zero.many) return;
    for (int64_t i = 0; i < tile.rows; ++i) {
      const int32_t zero = args_.a_zero.many ? a_zero(tile.row + i) : 0;
      for (int64_t j = 0; j < tile.columns; ++j) {
        uint32_t less = args_.a_zero.many ? column_term(zero, tile.column + j) : 0;
        if (!b_uniform_) less += product(b_zero(tile.column + j), row_sums[i]);
        int32_t& sum = tile.sums[i * tile.stride + j];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) - less);
      }
    }
  }

  const Int8GemmArgs& args_;
  const PackedInt8Matrix& b_;
  const Int8Epilogue epilogue_;
  const Int8Kernels& kernels_;
  const uint8_t flip_;
  const int64_t groups_, stride_, row_chunks_, panels_;
  bool b_uniform_, needs_row_sums_, in_place_;
  int32_t* column_start_ = nullptr;
};

}  // namespace

/// Those of panel i are `at` and `values` from begin[i] to begin[i + 1].
struct PackedInt8Matrix::Rests {
  std::vector<int64_t> begin;
  std::vector<int32_t> at;
  std::vector<uint8_t> values;
};

PackedInt8Matrix::PackedInt8Matrix(int64_t k, int64_t n, bool is_signed) : kernels_(&int8_kernels()), k_(k), n_(n), is_signed_(is_signed) {}

int64_t PackedInt8Matrix::panels() const { return (n_ + kernels_->columns - 1) / kernels_->columns; }
size_t PackedInt8Matrix::panel_bytes() const { return static_cast<size_t>(kernels_->columns * int8_groups(k_) * kInt8Group); }
size_t PackedInt8Matrix::bytes() const {
  return data_ ? static_cast<size_t>(panels()) * panel_bytes() + (rests_ ? rests_->values.size() + rests_->at.size() * sizeof(int32_t) : 0)
               : 0;
}

const uint8_t* PackedInt8Matrix::panel(int64_t i) const { return data_.get() + static_cast<size_t>(i) * panel_bytes(); }

Int8Rests PackedInt8Matrix::rests(int64_t panel) const {
  if (!rests_) return {};
  const int64_t begin = rests_->begin[static_cast<size_t>(panel)], end = rests_->begin[static_cast<size_t>(panel) + 1];
  return {end - begin, rests_->at.data() + begin, rests_->values.data() + begin * kernels_->columns * kInt8Group};
}

PackedInt8Matrix::PackedInt8Matrix(const Int8Matrix& b, int64_t k, int64_t n, bool transposed, const Parallel& parallel, bool may_split)
    : PackedInt8Matrix(k, n, b.is_signed) {
  sums_ = std::make_shared<int32_t[]>(static_cast<size_t>(panels() * kernels_->columns));
  const bool is_split = may_split && int8_split_kernels() && find_rests(b, transposed);
  if (is_split) kernels_ = int8_split_kernels();
  const auto begin = [&](size_t panel) { return panel * panel_bytes(); };
  const auto write = [&](size_t panel, void* to) {
    const auto first = static_cast<int64_t>(panel);
    pack_panels(b, transposed, first, first + 1, static_cast<uint8_t*>(to));
    if (is_split) int8_split_groups(static_cast<uint8_t*>(to), int8_groups(k_), kernels_->columns, nullptr, nullptr);
  };
  const auto shared = share_pieces({static_cast<size_t>(panels()), begin, write}, kSlackBytes, parallel);
  data_ = std::shared_ptr<const uint8_t[]>(shared, static_cast<const uint8_t*>(shared.get()));
}

bool PackedInt8Matrix::find_rests(const Int8Matrix& b, bool transposed) {
  const int64_t groups = int8_groups(k_), group_bytes = kernels_->columns * kInt8Group;
  const double most = kMostRests * static_cast<double>(panels() * groups);
  auto found = std::make_shared<Rests>();
  found->begin.assign(1, 0);
  std::vector<uint8_t> panel(panel_bytes()), values(panel_bytes());
  std::vector<int32_t> at(static_cast<size_t>(groups));
  for (int64_t i = 0; i < panels(); ++i) {
    pack_panels(b, transposed, i, i + 1, panel.data());
    const int64_t count = int8_split_groups(panel.data(), groups, kernels_->columns, at.data(), values.data());
    found->begin.push_back(found->begin.back() + count);
    if (static_cast<double>(found->begin.back()) > most) return false;
    found->at.insert(found->at.end(), at.begin(), at.begin() + count);
    found->values.insert(found->values.end(), values.begin(), values.begin() + count * group_bytes);
  }
  if (!found->at.empty()) rests_ = std::move(found);
  return true;
}

size_t PackedInt8Matrix::memory_bytes(int64_t k, int64_t n) {
  const PackedInt8Matrix sizes(k, n, false);
  return static_cast<size_t>(sizes.panels()) * (sizes.panel_bytes() + static_cast<size_t>(sizes.kernels_->columns) * sizeof(int32_t)) +
         kSlackBytes;
}

PackedInt8Matrix::PackedInt8Matrix(const Int8Matrix& b, int64_t k, int64_t n, bool transposed, void* memory, const Parallel& parallel)
    : PackedInt8Matrix(k, n, b.is_signed) {
  const std::shared_ptr<void> nobody;
  auto* const sums = static_cast<int32_t*>(memory);
  auto* const data = reinterpret_cast<uint8_t*>(sums + panels() * kernels_->columns);
  sums_ = std::shared_ptr<int32_t[]>(nobody, sums);
  data_ = std::shared_ptr<const uint8_t[]>(nobody, data);
  const double moved = static_cast<double>(panel_bytes());
  parallel.for_range(panels(), {.bytes = 2 * moved, .operations = moved / 4}, [&](Range range) {
    for (int64_t first = range.begin, end; first < range.end; first = end) {
      end = std::min(range.end, first + kPanelsAtOnce);
      pack_panels(b, transposed, first, end, data + static_cast<size_t>(first) * panel_bytes());
    }
  });
}

void PackedInt8Matrix::pack_panels(const Int8Matrix& b, bool transposed, int64_t first, int64_t end, uint8_t* out) {
  const int64_t width = kernels_->columns, column = first * width, live = std::min(end * width, n_) - column;
  const auto* from = static_cast<const uint8_t*>(b.data);
  const uint8_t flip = int8_flip(b.is_signed, true);
  if (transposed) {
    const int64_t stride = b.stride ? b.stride : k_;
    for (int64_t j = 0; j < live; j += width) {
      pack_turned(from + (column + j) * stride, stride, std::min(width, live - j), flip, out + j * int8_groups(k_) * kInt8Group);
    }
  } else {
    const int64_t stride = b.stride ? b.stride : n_;
    int8_pack_right(from + column, stride, k_, live, width, flip, out);
  }
  for (int64_t i = first; i < end; ++i, out += panel_bytes()) {
    int8_sum_columns(out, int8_groups(k_), width, sums_.get() + i * width);
  }
}

void PackedInt8Matrix::pack_turned(const uint8_t* columns, int64_t stride, int64_t count, uint8_t flip, uint8_t* out) const {
  const int64_t width = kernels_->columns, whole = k_ / kInt8Group, row = width * kInt8Group;
  const uint32_t flips = flip * 0x01010101u;
  if (k_ == 0) return;
  if (count < width) std::memset(out, 0, static_cast<size_t>(int8_groups(k_) * row));
  for (int64_t group = 0; group < whole; ++group) {  // each is a word
    const uint8_t* at = columns + group * kInt8Group;
    uint8_t* to = out + group * row;
    for (int64_t j = 0; j < count; ++j, at += stride, to += kInt8Group) {
      uint32_t word;
      std::memcpy(&word, at, sizeof(word));
      word ^= flips;
      std::memcpy(to, &word, sizeof(word));
    }
  }
  if (whole * kInt8Group == k_) return;
  uint8_t* last = out + whole * row;
  std::memset(last, 0, static_cast<size_t>(row));
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t k = whole * kInt8Group; k < k_; ++k) last[j * kInt8Group + k % kInt8Group] = columns[j * stride + k] ^ flip;
  }
}

void int8_gemm(const Int8GemmArgs& args, const PackedInt8Matrix& b, Int8Epilogue epilogue, const Parallel& parallel) {
  if (args.m <= 0 || b.n() <= 0) return;
  Product(args, b, epilogue).run(parallel);
}

void int8_gemm_reference(const Int8GemmArgs& args, const Int8Matrix& b, int64_t k, int64_t n, int32_t* c) {
  const auto value = [](const Int8Matrix& matrix, int64_t at) -> int32_t {
    return matrix.is_signed ? static_cast<const int8_t*>(matrix.data)[at] : static_cast<const uint8_t*>(matrix.data)[at];
  };
  const int64_t a_stride = args.a.stride ? args.a.stride : k, b_stride = b.stride ? b.stride : n;
  for (int64_t i = 0; i < args.m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      uint32_t sum = args.bias ? static_cast<uint32_t>(args.bias[j]) : 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += product(value(args.a, i * a_stride + p) - args.a_zero.at(i), value(b, p * b_stride + j) - args.b_zero.at(j));
      }
      c[i * n + j] = static_cast<int32_t>(sum);
    }
  }
}

}  // namespace rh::compute
