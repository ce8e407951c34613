#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/cancellation.h"
#include "base/cpu_features.h"
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/gemm/thin_product.h"
#include "compute/scratch.h"

namespace rh::compute {

inline constexpr int64_t kGroupPanels = 8;                            // panels whose block of B is packed together: 256 KiB with AVX-512
inline constexpr int64_t kRowBlock = 256;                             // rows of A at most that are walked for one panel before the next
inline constexpr int64_t kLeftBytes = 512 * 1024;                     // of those rows at most in one block
inline constexpr int64_t kNearAhead = 1024, kFarAhead = 2048;         // elements of packed B fetched ahead of one chunk of few or more rows
inline constexpr int64_t kDirectRows = 3;                             // up to so many rows, packing B costs more than it gives
inline constexpr int64_t kDotRows = 4;                                // of B, along k, that one call of the kernel of dot products takes
inline constexpr int64_t kMostDotColumns = 12;                        // of B that are taken one by one
inline constexpr int64_t kDirectTiles = 2, kDirectBytes = 64 * 1024;  // or so many tiles of rows, of a B of so many bytes

/// Whether dot products of rows of A with columns of B, whose vectors lie along k, are faster than vectors of `lanes` columns, of which
/// so few fill a part: each takes as long as about 6 products more. `copies`: the columns are laid out anew, for m rows.
inline bool dots_pay(int64_t m, int64_t n, int64_t k, int64_t lanes, bool copies) {
  const double columns = static_cast<double>(n);
  const double share = columns * (1.0 / static_cast<double>(lanes) + 6.0 / static_cast<double>(std::max<int64_t>(1, k)));
  return n <= kMostDotColumns && share + (copies ? 1.5 * columns / static_cast<double>(std::max<int64_t>(1, m)) : 0) < 0.85;
}

/// Whether rows of A, of few values each, go by all of B one after the other (thin_product.h). Without SSE4.1 or NEON those have no
/// vectors.
inline bool thin_pays(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kScalarColumns = 4, kFewRegisters = 32;
  const CpuFeatures& cpu = cpu_features();
  if (!cpu.sse41 && !cpu.neon && n > kScalarColumns) return false;
  if (k > 8 && (m < 32 || (!cpu.avx512 && n > kFewRegisters))) return false;
  return k > 0 && k <= kThinK && m >= 16;
}

inline bool clamps(const Activation& activation) {
  return activation.kind == ActivationKind::none || activation.kind == ActivationKind::relu || activation.kind == ActivationKind::clip;
}

/// The tile `rows` rows further down.
template <typename T>
void move_rows(MicroArgs<T>& tile, int64_t rows) {
  tile.a += rows * tile.a_row;
  tile.c += rows * tile.c_row;
  if (tile.row_bias) tile.row_bias += rows;
  if (tile.residual) tile.residual += rows * tile.residual_row;
}

/// One product with every default filled in. B is given as packed panels, or lies at b with ldb.
template <typename T>
struct GemmProduct {
  GemmArgs<T> args;
  const T* a;
  const T* b;
  const T* packed;                    // panels, each [k, kernels->columns]; or null
  const RightPanels* made = nullptr;  // writes panels where B lies nowhere
  const uint16_t* halves = nullptr;   // what it makes panels of, where these are panels of a half type
  T* c;
  const MicroKernels<T>* kernels;
  int64_t row_chunks;
  int64_t panels;
  T low = -std::numeric_limits<T>::infinity();
  T high = std::numeric_limits<T>::infinity();
  bool activates = false;    // by a pass of its own
  bool direct = false;       // B is read where it lies
  bool dots = false;         // by dot products along rows of a transposed B
  bool columns_dot = false;  // by dot products of rows of A with columns of B, which are few
  bool thin = false;         // few products a sum: rows of A go by all of B

  GemmProduct(const GemmArgs<T>& given, const T* a, const T* b, const T* packed, T* c, const MicroKernels<T>& kernels)
      : args(given), a(a), b(b), packed(packed), c(c), kernels(&kernels) {
    if (args.lda == 0) args.lda = args.transpose_a ? args.m : args.k;
    if (args.ldb == 0) args.ldb = args.transpose_b ? args.k : args.n;
    if (args.ldc == 0) args.ldc = args.n;
    Epilogue<T>& e = args.epilogue;
    if (e.bias_kind == BiasKind::none) e.bias = nullptr;
    if (e.residual_stride == 0) e.residual_stride = args.n;
    if (e.residual == c && e.residual_stride == args.ldc) {  // C is overwritten before the residual would be read
      args.beta += e.residual_scale;
      e.residual = nullptr;
    }
    activates = !clamps(e.activation);
    if (e.activation.kind == ActivationKind::relu) low = 0;
    if (e.activation.kind == ActivationKind::clip) {
      low = static_cast<T>(e.activation.alpha);
      high = static_cast<T>(e.activation.beta);
    }
    row_chunks = tiles_of(args.m, kernels.rows, (args.transpose_a ? 1 : args.lda) * static_cast<int64_t>(sizeof(T)));
    panels = (args.n + kernels.columns - 1) / kernels.columns;
    thin = std::is_same_v<T, float> && thin_pays(args.m, args.n, args.k);
    if (!packed && args.m <= kDirectRows) {
      dots = args.transpose_b;
      direct = !args.transpose_b;
    } else if (!packed && !args.transpose_a) {
      columns_dot = dots_pay(args.m, args.n, args.k, kernels.lanes, !columns_lie_along_k());
    }
    direct |=
        !packed && !args.transpose_b && row_chunks <= kDirectTiles && args.k * args.ldb * static_cast<int64_t>(sizeof(T)) <= kDirectBytes;
  }

  /// The same with other operands, laid out alike.
  GemmProduct at(const T* new_a, const T* new_b, T* new_c, int64_t c_offset) const {
    GemmProduct moved = *this;
    moved.a = new_a;
    moved.b = new_b;
    moved.c = new_c;
    if (moved.args.epilogue.residual) moved.args.epilogue.residual += c_offset;
    return moved;
  }

  /// With a B that `panels` writes.
  GemmProduct(const GemmArgs<T>& given, const T* a, const RightPanels& panels, T* c, const MicroKernels<T>& kernels)
      : GemmProduct(given, a, nullptr, nullptr, c, kernels) {
    made = &panels;
    direct = dots = columns_dot = thin = false;
  }

  const T* a_at(int64_t row, int64_t k) const { return args.transpose_a ? a + k * args.lda + row : a + row * args.lda + k; }

  Grid grid(int threads) const {
    const double m = static_cast<double>(args.m), n = static_cast<double>(args.n), k = static_cast<double>(args.k);
    if (thin) return choose_grid(row_chunks, 1, m * n * k, m * (k + n) * sizeof(T), 0, threads);
    return choose_grid(row_chunks, panels, m * n * k, m * k * sizeof(T), n * k * sizeof(T), threads);
  }

  void run_piece(const Grid& grid, int64_t index) const {
    const Part rows = share_of(row_chunks, grid.rows, index / grid.columns);
    const Part columns = share_of(panels, grid.columns, index % grid.columns);
    if (rows.size == 0 || columns.size == 0) return;
    if constexpr (std::is_same_v<T, float>) {
      if (thin) return run_thin(rows_of(rows));
    }
    if (dots) return run_dots(columns);
    if (columns_dot) return run_columns(rows);
    if (direct && args.m == 1) return run_row(columns);
    if (packed && rows.size == 1) return run_column_by_column(rows, columns);
    if (packed) return run_packed(rows, columns);
    const int64_t group = direct ? columns.size : kGroupPanels;
    for (int64_t first = columns.begin; first < columns.begin + columns.size; first += group) {
      run_group(rows, first, std::min(first + group, columns.begin + columns.size));
    }
  }

  /// Blocks of k, between which C keeps the sums. A packed B goes through more of k at once, in parts of kBlockK.
  int64_t blocks() const { return std::max<int64_t>(1, pieces_of(args.k, packed ? kDeepK : kBlockK)); }

  /// Chunks of rows whose part of A in one block stays in the second-level cache.
  int64_t chunks_at_once() const {
    const int64_t bytes = pieces_of(args.k, blocks()) * kernels->rows * static_cast<int64_t>(sizeof(T));
    const int64_t most = std::min<int64_t>(kLeftBytes, cpu_features().l2_bytes / 2) / std::max<int64_t>(1, bytes);
    return std::clamp<int64_t>(most, 1, std::max<int64_t>(1, kRowBlock / kernels->rows));
  }

  /// Few rows: packed panels are read once, in the order in which they lie, as fast as memory gives them. From a cache they come faster
  /// where nothing is fetched ahead.
  void run_column_by_column(const Part& rows, const Part& columns) const {
    const int64_t blocks = this->blocks();
    const int64_t end = columns.begin + columns.size, chunk = rows.begin;
    for (int64_t i = 0; i < columns.size; ++i) {
      const int64_t panel = args.backwards ? end - 1 - i : columns.begin + i;
      if (i % kGroupPanels == 0) throw_if_cancelled();
      for (int64_t block = 0; block < blocks; ++block) {
        const Part ks = part_of(args.k, blocks, block);
        const T* const ahead = packed + (panel * args.k + ks.begin) * kernels->columns + (args.m <= 4 ? kNearAhead : kFarAhead);
        run_panel({chunk, chunk + 1, ks, block == 0, block == blocks - 1}, panel, nullptr, args.repeated ? nullptr : ahead);
      }
    }
    if (activates) activate_chunks(chunk, chunk + 1, columns.begin, end);
  }

  /// Rows of A that stay in the cache pass by all panels of B, each of which is brought nearer while the one before it is worked on.
  void run_packed(const Part& rows, const Part& columns) const {
    const int64_t blocks = this->blocks(), walks = pieces_of(rows.size, chunks_at_once());
    const int64_t end_panel = columns.begin + columns.size;
    // More rows than stay in the cache.
    const bool far = walks > 1 && !args.transpose_a && args.lda == args.k && blocks == 1;
    const auto at = [&](int64_t panel, int64_t k) { return packed + (panel * args.k + k) * kernels->columns; };
    for (int64_t walk = 0; walk < walks; ++walk) {
      const Part part = part_of(rows.size, walks, walk);
      const int64_t chunk = rows.begin + part.begin, end_chunk = chunk + part.size;
      for (int64_t block = 0; block < blocks; ++block) {
        const Part ks = part_of(args.k, blocks, block);
        const bool last = block == blocks - 1;
        Walk steps{chunk, end_chunk, ks, block == 0, last, far};
        for (int64_t panel = columns.begin; panel < end_panel; ++panel) {
          const int64_t done = panel - columns.begin + 1;
          if (done % kGroupPanels == 1) throw_if_cancelled();
          const T* const next = panel + 1 < end_panel ? at(panel + 1, ks.begin) : at(columns.begin, last ? 0 : ks.begin + ks.size);
          run_panel(steps, panel, nullptr, next);
          steps.fetches_left = false;
          if (activates && last && (done % kGroupPanels == 0 || panel + 1 == end_panel))
            activate_chunks(chunk, end_chunk, panel - (done - 1) % kGroupPanels, panel + 1);
        }
      }
    }
  }

  void run_group(const Part& rows, int64_t first_panel, int64_t end_panel) const {
    const int64_t blocks = this->blocks(), walks = pieces_of(rows.size, chunks_at_once());
    for (int64_t block = 0; block < blocks; ++block) {
      throw_if_cancelled();
      const Part ks = part_of(args.k, blocks, block);
      const T* buffer = pack_group(first_panel, end_panel, ks);
      for (int64_t walk = 0; walk < walks; ++walk) {
        const Part part = part_of(rows.size, walks, walk);
        const int64_t chunk = rows.begin + part.begin, end_chunk = chunk + part.size;
        for (int64_t panel = first_panel; panel < end_panel; ++panel) {
          const T* const right = buffer && !direct ? buffer + (panel - first_panel) * ks.size * kernels->columns : buffer;
          const T* const next = walk == 0 ? halves_behind(panel, ks) : nullptr;
          run_panel({chunk, end_chunk, ks, block == 0, block == blocks - 1}, panel, right, next);
        }
        if (activates && block == blocks - 1) activate_chunks(chunk, end_chunk, first_panel, end_panel);
      }
    }
  }

  /// Halves that are widened behind those of this panel's group, or null.
  const T* halves_behind(int64_t panel, const Part& ks) const {
    const bool is_last = ks.begin + ks.size == args.k;
    if (!halves || (is_last && panel + kGroupPanels >= panels)) return nullptr;
    const int64_t at = is_last ? (panel + kGroupPanels) * args.k : panel * args.k + ks.begin + ks.size;
    return reinterpret_cast<const T*>(halves + at * kernels->columns);
  }

  /// The activation of what was just finished, still in the cache.
  void activate_chunks(int64_t chunk, int64_t end_chunk, int64_t first_panel, int64_t end_panel) const {
    const int64_t first_row = part_of(args.m, row_chunks, chunk).begin, column = first_panel * kernels->columns;
    const Part last = part_of(args.m, row_chunks, end_chunk - 1);
    activate_rows(args.epilogue.activation, c + first_row * args.ldc + column, last.begin + last.size - first_row,
                  std::min(args.n, end_panel * kernels->columns) - column, args.ldc);
  }

  /// Packs what the kernels cannot read where it lies: everything, or only the last panel when it is narrower than a vector asks for.
  T* pack_group(int64_t first_panel, int64_t end_panel, const Part& ks) const {
    const int64_t width = kernels->columns;
    if (direct && end_panel * width <= args.n) return nullptr;
    const int64_t begin = direct ? end_panel - 1 : first_panel;
    T* buffer = static_cast<T*>(
        thread_scratch(ScratchSlot::packed_right, static_cast<size_t>((end_panel - begin) * ks.size * width) * sizeof(T) + 64));
    for (int64_t panel = begin; panel < end_panel; ++panel) {
      const int64_t column = panel * width;
      if constexpr (std::is_same_v<T, float>) {
        if (made) {
          (*made)({ks.begin, ks.size, column, std::min(width, args.n - column), width}, buffer + (panel - begin) * ks.size * width);
          continue;
        }
      }
      const int64_t columns = std::min(width, args.n - column);
      T* to = buffer + (panel - begin) * ks.size * width;
      if (args.transpose_b) {
        pack_panel(b + column * args.ldb + ks.begin, args.ldb, true, ks.size, columns, width, to);
      } else {
        kernels->pack({b + ks.begin * args.ldb + column, args.ldb, ks.size, columns, to});
      }
    }
    return buffer;
  }

  /// Tiles of one or two rows keep so many sums apart, each of which may add up as many products as those of others.
  int64_t sums_apart() const { return args.m == 1 ? 4 : args.m == 2 ? 2 : 1; }

  /// A tile of C from `row` on, one panel wide, and a block of k: all but the place of B.
  MicroArgs<T> tile_args(int64_t row, int64_t panel, const Part& ks, bool first, bool last) const {
    const int64_t column = panel * kernels->columns;
    MicroArgs<T> p{};
    p.k = ks.size;
    p.fold = args.fold > 0 ? args.fold * sums_apart() : ks.size > kBlockK ? kSumK * sums_apart() : kBlockK;
    p.a = a_at(row, ks.begin);
    p.a_row = args.transpose_a ? 1 : args.lda;
    p.a_k = args.transpose_a ? args.lda : 1;
    p.columns = std::min(kernels->columns, args.n - column);
    p.c = c + row * args.ldc + column;
    p.c_row = args.ldc;
    p.alpha = args.alpha;
    p.beta = first ? args.beta : T(1);
    p.c_is_far = args.m * args.n * static_cast<int64_t>(sizeof(T)) >= kFarBytes;
    if (!last) return p;
    const Epilogue<T>& e = args.epilogue;
    p.low = low;
    p.high = high;
    p.residual_row = e.residual_stride;
    p.residual_scale = e.residual_scale;
    if (e.bias_kind == BiasKind::per_column) p.column_bias = e.bias + column;
    if (e.bias_kind == BiasKind::per_row) p.row_bias = e.bias + row;
    if (e.residual) p.residual = e.residual + row * e.residual_stride + column;
    return p;
  }

  /// Chunks of rows that pass by panels of B in one block of k.
  struct Walk {
    int64_t chunk;
    int64_t end_chunk;
    Part ks;
    bool first;
    bool last;
    bool fetches_left = false;  ///< the rows of A, which lie one after the other, are brought nearer as well, in place of B
  };

  /// `right`: the packed panel where B is not packed as a whole, or null. `next`: what comes after this panel, or null.
  void run_panel(const Walk& walk, int64_t panel, const T* right, const T* next) const {
    const int64_t width = kernels->columns;
    const Part& ks = walk.ks;
    MicroArgs<T> p = tile_args(part_of(args.m, row_chunks, walk.chunk).begin, panel, ks, walk.first, walk.last);
    p.b_k = width;
    if (packed) {
      p.b = packed + (panel * args.k + ks.begin) * width;
    } else if (direct && p.columns == width) {
      p.b = b + ks.begin * args.ldb + panel * width;
      p.b_k = args.ldb;
    } else {
      p.b = right;
    }
    // Each chunk of rows brings its share of what comes next nearer.
    const int64_t chunks = walk.end_chunk - walk.chunk, fetched = halves ? width / 2 : width, share = ks.size * fetched / chunks;
    p.ahead = next;
    p.ahead_step = walk.fetches_left ? kernels->rows : (fetched + chunks - 1) / chunks;
    const auto* table = p.columns <= kernels->lanes ? kernels->one : kernels->two;
    for (int64_t chunk = walk.chunk; chunk < walk.end_chunk; ++chunk) {
      const Part rows = part_of(args.m, row_chunks, chunk);
      if (walk.fetches_left) p.ahead = p.a + rows.size * p.a_row;
      table[rows.size](p);
      move_rows(p, rows.size);
      if (p.ahead) p.ahead += share;
    }
  }

  /// Few rows times the rows of a transposed B. A transposed A of so few rows is first laid out in rows.
  void run_dots(const Part& columns) const {
    const T* left = a;
    int64_t left_row = args.lda;
    if (args.transpose_a && args.m > 1) {
      T* copy = static_cast<T*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(args.m * args.k) * sizeof(T)));
      for (int64_t i = 0; i < args.m; ++i) {
        for (int64_t k = 0; k < args.k; ++k) copy[i * args.k + k] = a[k * args.lda + i];
      }
      left = copy;
      left_row = args.k;
    } else if (args.transpose_a && args.lda != 1) {
      T* copy = static_cast<T*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(args.k) * sizeof(T)));
      for (int64_t k = 0; k < args.k; ++k) copy[k] = a[k * args.lda];
      left = copy;
    }
    const int64_t begin = columns.begin * kernels->columns, end = std::min(args.n, (columns.begin + columns.size) * kernels->columns);
    const bool far = is_far((end - begin) * args.k);
    for (int64_t n = begin; n < end; n += 4) {
      T sums[4 * kDirectRows];
      const int64_t live = std::min<int64_t>(4, end - n);
      if (live == 4) {
        kernels->dot({args.k, args.m, left, left_row, b + n * args.ldb, args.ldb, sums, far});
      } else {
        for (int64_t j = 0; j < live; ++j) {
          T one[4 * kDirectRows];
          kernels->dot({args.k, args.m, left, left_row, b + (n + j) * args.ldb, 0, one});
          for (int64_t i = 0; i < args.m; ++i) sums[i * 4 + j] = one[i * 4];
        }
      }
      for (int64_t i = 0; i < args.m; ++i) {
        for (int64_t j = 0; j < live; ++j) finish(sums[i * 4 + j], i, n + j);
      }
    }
    if (activates) activate_rows(args.epilogue.activation, c + begin, args.m, end - begin, args.ldc);
  }

  static constexpr int64_t kRowColumns = 2048;  // of one row, whose sums stay in the first-level cache

  /// Sums of at most kSumK x kRowsAdded products each that those of one row are made of.
  int64_t row_parts() const { return std::max<int64_t>(1, pieces_of(args.k, kSumK * kRowsAdded)); }

  /// One row of A by part of the rows of B, which pass by the sums, some at a time, so that each is read from one end to the other.
  void sum_rows(const Part& ks, int64_t column, int64_t count, T* to) const {
    const int64_t a_k = args.transpose_a ? args.lda : 1;
    throw_if_cancelled();
    std::fill_n(to, count, T(0));
    for (int64_t k = 0; k < ks.size; k += kRowsAdded) {
      const int64_t at = ks.begin + k;
      kernels->row({std::min(kRowsAdded, ks.size - k), count, a + at * a_k, a_k, b + at * args.ldb + column, args.ldb, to});
    }
  }

  void run_row(const Part& columns) const {
    const int64_t begin = columns.begin * kernels->columns, end = std::min(args.n, (columns.begin + columns.size) * kernels->columns);
    const int64_t parts = row_parts();
    T* const memory = static_cast<T*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(2 * kRowColumns) * sizeof(T)));
    T* const part_sums = memory + kRowColumns;
    for (int64_t column = begin; column < end; column += kRowColumns) {
      const int64_t count = std::min(kRowColumns, end - column);
      T* const sums = ends_plainly() ? c + column : memory;
      for (int64_t i = 0; i < parts; ++i) {
        sum_rows(part_of(args.k, parts, i), column, count, i == 0 ? sums : part_sums);
        for (int64_t j = 0; i > 0 && j < count; ++j) sums[j] += part_sums[j];
      }
      for (int64_t j = 0; sums == memory && j < count; ++j) finish(sums[j], 0, column + j);
    }
    if (activates) activate_rows(args.epilogue.activation, c + begin, 1, end - begin, args.ldc);
  }

  /// Whether threads share the rows of B rather than its columns, of which each would have but short pieces.
  bool shares_rows(int threads) const {
    return direct && args.m == 1 && row_parts() > 1 && args.n <= kRowColumns * threads && grid(threads).pieces() > 1;
  }

  /// run_row() of all columns by several threads; the bits are the same.
  void run_row_parts(const Parallel& parallel) const {
    const int64_t parts = row_parts(), most = pieces_of(args.n, kernels->columns), threads = parallel.threads();
    int64_t shares = pieces_of(args.n, kRowColumns);  // of columns
    while (shares < most && shares < 4 && parts * shares % threads != 0) ++shares;
    T* const sums = static_cast<T*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(parts * args.n) * sizeof(T)));
    parallel.for_pieces(parts * shares, [&](int64_t piece) {
      const int64_t part = piece / shares;
      const Part columns = part_of(args.n, shares, piece % shares);
      sum_rows(part_of(args.k, parts, part), columns.begin, columns.size, sums + part * args.n + columns.begin);
    });
    for (int64_t part = 1; part < parts; ++part) {
      for (int64_t j = 0; j < args.n; ++j) sums[j] += sums[part * args.n + j];
    }
    for (int64_t j = 0; j < args.n; ++j) finish(sums[j], 0, j);
    if (activates) activate_rows(args.epilogue.activation, c, 1, args.n, args.ldc);
  }

  /// Whether so many elements, read once from one end to the other, come from beyond the second-level cache.
  static bool is_far(int64_t elements) { return elements * static_cast<int64_t>(sizeof(T)) >= cpu_features().l2_bytes / 2; }

  bool columns_lie_along_k() const { return args.transpose_b || (args.n == 1 && args.ldb == 1); }

  /// Rows of A, four at a time, by all columns of B.
  void run_columns(const Part& chunks) const {
    const T* right = b;
    int64_t right_row = args.transpose_b ? args.ldb : args.k;
    if (!columns_lie_along_k()) {
      T* copy = static_cast<T*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(args.n * args.k) * sizeof(T)));
      for (int64_t k = 0; k < args.k; ++k) {
        for (int64_t j = 0; j < args.n; ++j) copy[j * args.k + k] = b[k * args.ldb + j];
      }
      right = copy;
    }
    const Part rows = rows_of(chunks);
    const int64_t begin = rows.begin, end = begin + rows.size;
    const bool far = is_far(rows.size * args.k);
    for (int64_t row = begin, live; row < end; row += live) {
      if ((row - begin) % (64 * kDotRows) == 0) throw_if_cancelled();
      live = end - row < kDotRows ? 1 : kDotRows;
      for (int64_t column = 0; column < args.n; column += kDotRows) {
        T sums[kDotRows * kDotRows];
        const int64_t columns = std::min(kDotRows, args.n - column);
        kernels->dot({args.k, columns, right + column * right_row, right_row, a + row * args.lda, live == 1 ? 0 : args.lda, sums,
                      far && column == 0});
        for (int64_t i = 0; i < live; ++i) {
          for (int64_t j = 0; j < columns; ++j) finish(sums[j * kDotRows + i], row + i, column + j);
        }
      }
    }
    if (activates) activate_rows(args.epilogue.activation, c + begin * args.ldc, end - begin, args.n, args.ldc);
  }

  /// Rows of chunks.
  Part rows_of(const Part& chunks) const {
    const int64_t begin = part_of(args.m, row_chunks, chunks.begin).begin;
    const Part last = part_of(args.m, row_chunks, chunks.begin + chunks.size - 1);
    return {begin, last.begin + last.size - begin};
  }

  /// Columns of B as rows of `row` values, with zeros behind them.
  void lay_out_right(const Part& columns, int64_t row, T* to) const {
    for (int64_t k = 0; k < args.k; ++k, to += row) {
      std::fill(to + columns.size, to + row, T(0));
      for (int64_t j = 0, some; j < columns.size; j += some) {
        const int64_t column = columns.begin + j;
        some = packed ? std::min(kernels->columns - column % kernels->columns, columns.size - j) : args.transpose_b ? 1 : columns.size;
        const T* const from =
            packed             ? packed + (column - column % kernels->columns) * args.k + k * kernels->columns + column % kernels->columns
            : args.transpose_b ? b + column * args.ldb + k
                               : b + k * args.ldb + column;
        std::copy_n(from, some, to + j);
      }
    }
  }

  /// Rows of A by some columns of B after the other, so many rows at a time as stay in the first-level cache as rows of C.
  void run_thin(const Part& rows) const {
    constexpr int64_t kColumns = 512, kLeast = 8, kMost = 4096;
    T right[kThinK * kColumns];
    const Epilogue<T>& e = args.epilogue;
    ThinArgs p{.k = args.k,
               .a_row = args.transpose_a ? 1 : args.lda,
               .a_k = args.transpose_a ? args.lda : 1,
               .b = right,
               .c_row = args.ldc,
               .alpha = args.alpha,
               .beta = args.beta,
               .residual_row = e.residual_stride,
               .residual_scale = e.residual_scale,
               .low = low,
               .high = high};
    for (int64_t column = 0; column < args.n; column += kColumns) {
      p.columns = std::min(kColumns, args.n - column);
      p.b_row = std::max(p.columns, kThinColumns);
      p.column_bias = e.bias_kind == BiasKind::per_column && e.bias ? e.bias + column : nullptr;
      lay_out_right({column, p.columns}, p.b_row, right);
      const int64_t most = cpu_features().l1d_bytes / 2 / (p.columns * static_cast<int64_t>(sizeof(T)));
      const int64_t walks = pieces_of(rows.size, std::clamp(most, kLeast, kMost));
      for (int64_t walk = 0; walk < walks; ++walk) {
        throw_if_cancelled();
        const Part part = part_of(rows.size, walks, walk);
        const int64_t row = rows.begin + part.begin;
        p.rows = part.size;
        p.a = a_at(row, 0);
        p.c = c + row * args.ldc + column;
        p.row_bias = e.bias_kind == BiasKind::per_row && e.bias ? e.bias + row : nullptr;
        p.residual = e.residual ? e.residual + row * e.residual_stride + column : nullptr;
        multiply_thin(p);
        if (activates) activate_rows(e.activation, p.c, part.size, p.columns, args.ldc);
      }
    }
  }

  /// Whether C is the sums.
  bool ends_plainly() const {
    const Epilogue<T>& e = args.epilogue;
    const bool bounded = low != -std::numeric_limits<T>::infinity() || high != std::numeric_limits<T>::infinity();
    return args.alpha == T(1) && args.beta == T(0) && !e.bias && !e.residual && !bounded;
  }

  void finish(T sum, int64_t row, int64_t column) const {
    const Epilogue<T>& e = args.epilogue;
    T& out = c[row * args.ldc + column];
    T value = args.alpha * sum;
    if (args.beta != T(0)) value += args.beta * out;
    if (e.bias) value += e.bias[e.bias_kind == BiasKind::per_row ? row : column];
    if (e.residual) value += e.residual_scale * e.residual[row * e.residual_stride + column];
    out = value < low ? low : value > high ? high : value;
  }
};

}  // namespace rh::compute
