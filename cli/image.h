#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "array_io.h"

namespace rh::cli {

/// How an image becomes a tensor.
struct ImageOptions {
  std::string size;             ///< "HEIGHTxWIDTH"; empty: the input's, else the image's own
  std::string fit = "crop";     ///< crop, pad, stretch: where the shapes differ
  std::string layout = "auto";  ///< auto, nchw, nhwc
  std::string order = "rgb";    ///< rgb, bgr
  double scale = -1;            ///< of pixels from 0 to 255; negative: 1/255 for float inputs, 1 for integers
  std::vector<double> mean;     ///< by channel, or one for all; subtracted after scaling
  std::vector<double> std;      ///< by channel, or one for all; divided by after that

  void declare(CLI::App& app);
};

/// Whether the file's name ends as those of images do: .jpg, .jpeg, .png, .bmp, .ppm, .pgm.
bool is_image(const std::string& path);

/// The image as a value for an input of this type. Throws std::runtime_error naming the file or the input.
Ort::Value read_image(const std::string& path, const std::string& input, const Ort::TypeInfo& type, const ImageOptions& options);

}  // namespace rh::cli
