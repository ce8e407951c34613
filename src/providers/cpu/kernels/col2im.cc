#include "ops/vision/col2im.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "compute/elementwise/vector_math.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Booleans are or-ed, strings joined.
class Col2ImKernel final : public Kernel {
 public:
  using Types = Concat<Concat<NumericTypes, rh::Types<bool>>, rh::Types<std::string, std::complex<float>, std::complex<double>>>;

  explicit Col2ImKernel(const KernelInfo& info) : op_(info.attributes<ops::Col2Im>()) {}

  Status run(RunContext& context) const override {
    Layout layout;
    RH_RETURN_IF_ERROR(set_layout(context, layout));
    const MutableView y = context.output(0, layout.output);
    return dispatch<Types>(y.dtype(), "Col2Im", [&]<typename T>() {
      const int64_t image = layout.image.elements(), columns = layout.block.elements() * layout.blocks.elements();
      const double work = static_cast<double>(columns) * 4;
      const int64_t* const places = row_places(context, layout);
      context.parallel().for_range(layout.output[0] * layout.output[1], {work * sizeof(T), work}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          T* to = y.data<T>() + i * image;
          std::fill_n(to, image, T{});
          add_columns(layout, places, context.input(0).data<T>() + i * columns, to);
        }
      });
    });
  }

 private:
  struct Layout {
    Shape image, block, blocks, output;
    Shape strides, dilations, pads;
  };

  Status set_layout(RunContext& context, Layout& layout) const {
    const Shape& x = context.input(0).shape();
    const InlineVector<int64_t, 8> image = context.input_ints(1), block = context.input_ints(2);
    const size_t rank = image.size();
    const auto list = [&](const std::vector<int64_t>& given, size_t count, int64_t otherwise) {
      return given.empty() ? Shape(count, otherwise) : Shape(std::span<const int64_t>(given));
    };
    layout.strides = list(op_.strides, rank, 1);
    layout.dilations = list(op_.dilations, rank, 1);
    layout.pads = list(op_.pads, 2 * rank, 0);
    if (x.rank() != 3 || rank == 0 || block.size() != rank || layout.strides.size() != rank || layout.dilations.size() != rank ||
        layout.pads.size() != 2 * rank) {
      return error_status(ErrorCode::invalid_argument,
                          "Col2Im: input has shape {}, image_shape {} elements, block_shape {}, strides {}, dilations {} and pads {}, "
                          "which do not fit each other",
                          x.to_string(), rank, block.size(), layout.strides.size(), layout.dilations.size(), layout.pads.size());
    }
    layout.image = Shape(std::span<const int64_t>(image.begin(), rank));
    layout.block = Shape(std::span<const int64_t>(block.begin(), rank));
    check_elements(layout.image, "Col2Im: image_shape");
    check_elements(layout.block, "Col2Im: block_shape");
    for (size_t i = 0; i < rank; ++i) {
      int64_t reach = 0, room = 0;
      const bool overflows = __builtin_mul_overflow(layout.dilations[i], block[i] - 1, &reach) ||
                             __builtin_add_overflow(image[i], layout.pads[i] + layout.pads[rank + i], &room);
      if (overflows || block[i] < 1 || room <= reach) {
        return error_status(ErrorCode::invalid_argument, "Col2Im: blocks of {} elements, {} apart, do not fit an image of {} with its pads",
                            block[i], layout.dilations[i], image[i]);
      }
      layout.blocks.push_back((room - reach - 1) / layout.strides[i] + 1);
    }
    const int64_t elements = layout.block.elements(), blocks = layout.blocks.elements();
    if (x[1] % elements != 0 || x[2] != blocks) {
      return error_status(ErrorCode::invalid_argument, "Col2Im: input has shape {}, expected [N, a multiple of {}, {}] for {} blocks of {}",
                          x.to_string(), elements, blocks, layout.blocks.to_string(), layout.block.to_string());
    }
    layout.output = {x[0], x[1] / elements};
    for (int64_t size : layout.image) layout.output.push_back(size);
    check_elements(layout.output, "Col2Im: output");
    return {};
  }

  template <typename T>
  static void add_columns(const Layout& layout, const int64_t* places, const T* from, T* to) {
    const int64_t elements = layout.block.elements(), blocks = layout.blocks.elements();
    const size_t last = layout.image.size() - 1;
    const int64_t row = layout.blocks[last], stride = layout.strides[last], width = layout.image[last];
    const bool rows_repeat = last > 0 && layout.strides[last - 1] < layout.image[last - 1];
    const int64_t row_step = rows_repeat ? layout.strides[last - 1] * width : 0;  // of the image, between rows of blocks
    for (int64_t element = 0; element < elements; ++element) {
      // Of a row of blocks, those whose element lies in the image.
      const int64_t shift = element % layout.block[last] * layout.dilations[last] - layout.pads[last];
      const int64_t begin = shift < 0 ? std::min(row, (-shift + stride - 1) / stride) : 0;
      const int64_t end = shift < width ? std::clamp<int64_t>((width - shift + stride - 1) / stride, begin, row) : begin;
      const int64_t* place = places + element / layout.block[last] * (blocks / row);
      for (int64_t block = 0; block < blocks; block += row) {
        const int64_t base = *place++;
        if (base < 0) continue;
        if constexpr (std::is_same_v<T, float>) {
          if (stride == 1) {
            const int64_t rows = rows_from(place - 1, (blocks - block) / row, row_step);
            compute::add_rows(from + element * blocks + block + begin, row, to + base + shift + begin, row_step, rows, end - begin);
            block += (rows - 1) * row;
            place += rows - 1;
            continue;
          }
        }
        const T* values = from + element * blocks + block;
        if (stride == 1) {
          T* __restrict out = to + (base + shift + begin);
          const T* __restrict in = values + begin;
          for (int64_t i = 0; i < end - begin; ++i) add(out[i], in[i]);
        } else {
          for (int64_t i = begin; i < end; ++i) add(to[base + shift + i * stride], values[i]);
        }
      }
    }
  }

  /// How many of `count` rows, from the first on, lie `step` apart.
  static int64_t rows_from(const int64_t* places, int64_t count, int64_t step) {
    int64_t rows = 1;
    while (rows < count && places[rows] == places[0] + rows * step) ++rows;
    return rows;
  }

  /// row_place() of every row of elements of every row of blocks.
  static const int64_t* row_places(RunContext& context, const Layout& layout) {
    const int last = static_cast<int>(layout.image.size()) - 1;
    const int64_t elements = layout.block.product(0, last), blocks = layout.blocks.product(0, last);
    int64_t* const places = context.scratch_array<int64_t>(checked_product(elements, blocks, "Col2Im: rows of blocks"));
    for (int64_t i = 0; i < elements * blocks; ++i) places[i] = row_place(layout, i / blocks, i % blocks);
    return places;
  }

  /// Where the row of the image begins in which an element of a row of blocks lies; -1 in its pads.
  static int64_t row_place(const Layout& layout, int64_t element, int64_t block) {
    int64_t at = 0, stride = layout.image[layout.image.size() - 1];
    for (size_t i = layout.image.size() - 1; i-- > 0;) {
      const int64_t position =
          block % layout.blocks[i] * layout.strides[i] - layout.pads[i] + element % layout.block[i] * layout.dilations[i];
      if (position < 0 || position >= layout.image[i]) return -1;
      at += position * stride;
      stride *= layout.image[i];
      element /= layout.block[i];
      block /= layout.blocks[i];
    }
    return at;
  }

  template <typename T>
  static void add(T& to, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      to = to || value;
    } else if constexpr (std::is_integral_v<T>) {  // wraps around
      to = static_cast<T>(static_cast<uint64_t>(to) + static_cast<uint64_t>(value));
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      to = T(static_cast<float>(to) + static_cast<float>(value));
    } else {
      to += value;
    }
  }

  ops::Col2Im op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(Col2ImKernel)
