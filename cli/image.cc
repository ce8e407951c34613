#include "image.h"

#include <stb_image.h>
#include <stb_image_resize.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace rh::cli {

namespace {

/// Rows of pixels, channels side by side.
struct Pixels {
  int height = 0, width = 0, channels = 0;
  std::vector<unsigned char> data;

  Pixels(int h, int w, int c) : height(h), width(w), channels(c) {
    data.resize(static_cast<size_t>(h) * static_cast<size_t>(w) * static_cast<size_t>(c));
  }
  unsigned char* at(int y, int x) {
    return data.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * static_cast<size_t>(channels);
  }
};

/// What an input wants of an image.
struct Target {
  std::vector<int64_t> shape;
  bool channels_last = false;
  int height = 0, width = 0;  ///< 0: the image's own
  int channels = 3;
};

constexpr int64_t kMaxSide = 16384;
constexpr int64_t kMaxPixels = int64_t{1} << 28;

bool is_channel_count(int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

int side(int64_t dim, const std::string& what) {
  if (dim > kMaxSide) throw std::runtime_error(what + ": an image side of " + std::to_string(dim) + ", expected at most 16384");
  return dim < 0 ? 0 : static_cast<int>(dim);
}

// The last three dimensions are the channels and the sides; two alone are the sides of a grey image.
Target target_of(const std::string& input, const std::vector<int64_t>& shape, const ImageOptions& options) {
  Target target{.shape = shape};
  const size_t rank = shape.size();
  if (rank < 2 || rank > 4) {
    throw std::runtime_error("input '" + input + "' has rank " + std::to_string(rank) + ", expected 2 to 4 for an image");
  }
  if (rank == 4 && shape[0] > 1) {
    throw std::runtime_error("input '" + input + "' takes " + std::to_string(shape[0]) + " images at once; give an array with --input");
  }
  if (rank == 2) {
    target.channels = 1;
    target.channels_last = true;
    target.height = side(shape[0], input);
    target.width = side(shape[1], input);
    return target;
  }
  const size_t first = rank - 3;
  target.channels_last =
      options.layout == "nhwc" || (options.layout == "auto" && !is_channel_count(shape[first]) && is_channel_count(shape[rank - 1]));
  const int64_t channels = shape[target.channels_last ? rank - 1 : first];
  if (channels >= 0 && !is_channel_count(channels)) {
    throw std::runtime_error("input '" + input + "' has " + std::to_string(channels) + " channels, expected 1, 3 or 4; see --layout");
  }
  target.channels = channels < 0 ? 3 : static_cast<int>(channels);
  target.height = side(shape[target.channels_last ? first : first + 1], input);
  target.width = side(shape[target.channels_last ? first + 1 : first + 2], input);
  return target;
}

void apply_size(const std::string& text, const std::string& input, Target& target) {
  if (text.empty()) return;
  int height = 0, width = 0, used = 0;
  if (std::sscanf(text.c_str(), "%5dx%5d%n", &height, &width, &used) != 2 || used != static_cast<int>(text.size()) || height < 1 ||
      width < 1) {
    throw std::runtime_error("--image-size '" + text + "': expected HEIGHTxWIDTH, such as 224x224");
  }
  if ((target.height && target.height != height) || (target.width && target.width != width)) {
    throw std::runtime_error("--image-size '" + text + "': input '" + input + "' takes images of " + std::to_string(target.height) + "x" +
                             std::to_string(target.width));
  }
  target.height = side(height, input);
  target.width = side(width, input);
}

Pixels decode(const std::string& path, int channels) {
  int width = 0, height = 0, found = 0;
  const auto wrong = [&] {
    const char* why = stbi_failure_reason();
    return std::runtime_error(path + ": cannot be read as an image: " + (why ? why : "damaged"));
  };
  if (!stbi_info(path.c_str(), &width, &height, &found)) throw wrong();
  if (int64_t{width} * height > kMaxPixels) throw std::runtime_error(path + ": has more than 2^28 pixels");
  const std::unique_ptr<stbi_uc, void (*)(void*)> data(stbi_load(path.c_str(), &width, &height, &found, channels), stbi_image_free);
  if (!data) throw wrong();
  Pixels pixels(height, width, channels);
  std::copy_n(data.get(), pixels.data.size(), pixels.data.begin());
  return pixels;
}

Pixels resized(Pixels& from, int height, int width) {
  Pixels to(height, width, from.channels);
  if (!stbir_resize_uint8_generic(from.data.data(), from.width, from.height, 0, to.data.data(), width, height, 0, from.channels,
                                  STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_FILTER_TRIANGLE, STBIR_COLORSPACE_LINEAR, nullptr)) {
    throw std::runtime_error("an image cannot be resized: memory is short");
  }
  return to;
}

// Resized to one ratio for both sides, then cut or surrounded by black; or stretched.
Pixels fitted(Pixels image, const Target& target, const std::string& fit) {
  const int height = target.height ? target.height : image.height, width = target.width ? target.width : image.width;
  if (image.height == height && image.width == width) return image;
  if (fit == "stretch") return resized(image, height, width);
  const double by_height = static_cast<double>(height) / image.height, by_width = static_cast<double>(width) / image.width;
  const bool crop = fit == "crop";
  const double ratio = crop ? std::max(by_height, by_width) : std::min(by_height, by_width);
  const auto scaled = [&](int from, int limit) {
    const int to = static_cast<int>(std::lround(from * ratio));
    return crop ? std::max(to, limit) : std::clamp(to, 1, limit);
  };
  Pixels near = resized(image, scaled(image.height, height), scaled(image.width, width));
  Pixels result(height, width, image.channels);
  const int rows = std::min(height, near.height), columns = std::min(width, near.width);
  for (int y = 0; y < rows; ++y) {
    const unsigned char* from = near.at((near.height - rows) / 2 + y, (near.width - columns) / 2);
    std::copy_n(from, columns * image.channels, result.at((height - rows) / 2 + y, (width - columns) / 2));
  }
  return result;
}

double of_channel(const std::vector<double>& values, int channel, double otherwise, const char* what) {
  if (values.empty()) return otherwise;
  if (values.size() == 1) return values[0];
  if (static_cast<size_t>(channel) < values.size()) return values[static_cast<size_t>(channel)];
  throw std::runtime_error(std::string(what) + ": " + std::to_string(values.size()) + " numbers, expected one, or one for each channel");
}

template <typename T>
void fill(const Pixels& image, const Target& target, const ImageOptions& options, double scale, T* to) {
  const size_t plane = static_cast<size_t>(image.height) * static_cast<size_t>(image.width);
  const size_t channels = static_cast<size_t>(image.channels);
  for (int c = 0; c < image.channels; ++c) {
    const double mean = of_channel(options.mean, c, 0, "--mean"), std = of_channel(options.std, c, 1, "--std");
    const int from = options.order == "bgr" && image.channels >= 3 && c < 3 ? 2 - c : c;
    for (size_t i = 0; i < plane; ++i) {
      const double x = (image.data[i * channels + static_cast<size_t>(from)] * scale - mean) / std;
      T& place = to[target.channels_last ? i * channels + static_cast<size_t>(c) : static_cast<size_t>(c) * plane + i];
      if constexpr (std::is_integral_v<T>) {
        place = static_cast<T>(std::clamp(std::round(x), 0.0, 255.0));
      } else {
        place = static_cast<T>(static_cast<float>(x));
      }
    }
  }
}

}  // namespace

void ImageOptions::declare(CLI::App& app) {
  app.add_option("--image-size", size, "HEIGHTxWIDTH of images where the input leaves it open");
  app.add_option("--image-fit", fit, "What to do with images of another shape")->check(CLI::IsMember({"crop", "pad", "stretch"}));
  app.add_option("--layout", layout, "Order of an image's dimensions")->check(CLI::IsMember({"auto", "nchw", "nhwc"}));
  app.add_option("--channel-order", order, "Order of an image's channels")->check(CLI::IsMember({"rgb", "bgr"}));
  app.add_option("--scale", scale, "Of pixels from 0 to 255; 1/255 for float inputs, 1 for integers")->check(CLI::NonNegativeNumber);
  app.add_option("--mean", mean, "Subtracted from scaled pixels: one number, or one for each channel, 0.485,0.456,0.406")->delimiter(',');
  app.add_option("--std", std, "What they are divided by then")->delimiter(',')->check(CLI::PositiveNumber);
}

bool is_image(const std::string& path) {
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::any_of(std::vector<std::string>{".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm"},
                             [&](const std::string& ending) { return lower.ends_with(ending); });
}

Ort::Value read_image(const std::string& path, const std::string& input, const Ort::TypeInfo& type, const ImageOptions& options) {
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) throw std::runtime_error("input '" + input + "' is no tensor, which an image can be");
  const auto info = type.GetTensorTypeAndShapeInfo();
  Target target = target_of(input, info.GetShape(), options);
  apply_size(options.size, input, target);
  const Pixels image = fitted(decode(path, target.channels), target, options.fit);
  std::vector<int64_t> shape(target.shape.size() - (target.shape.size() == 2 ? 2 : 3), 1);
  if (!target.channels_last) shape.push_back(image.channels);
  shape.push_back(image.height);
  shape.push_back(image.width);
  if (target.channels_last && target.shape.size() > 2) shape.push_back(image.channels);
  const ONNXTensorElementDataType element = info.GetElementType();
  Ort::Value value = make_tensor(element, shape);
  void* data = value.GetTensorMutableRawData();
  const double scale = options.scale >= 0 ? options.scale : element == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 ? 1 : 1 / 255.0;
  switch (element) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: fill(image, target, options, scale, static_cast<float*>(data)); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: fill(image, target, options, scale, static_cast<double*>(data)); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16: fill(image, target, options, scale, static_cast<Ort::Float16_t*>(data)); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: fill(image, target, options, scale, static_cast<uint8_t*>(data)); break;
    default:
      throw std::runtime_error("input '" + input + "' has elements of type " + element_name(element) +
                               ", expected float, float16, double or uint8 for an image");
  }
  return value;
}

}  // namespace rh::cli
