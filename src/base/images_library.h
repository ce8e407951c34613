#pragma once

#include <cstddef>
#include <cstdint>

/// What libroundhouse_images gives: decoders of BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP. Plain C types, since the library may have
/// another C++ runtime.
struct ImagesLibrary {
  /// Gives memory for 3 * width * height bytes, or null to stop.
  using Allocate = uint8_t* (*)(void* context, int64_t width, int64_t height);
  /// Decodes an image to RGB, row by row. Null on success, else what is wrong; memory that was asked for may then be written in part.
  const char* (*decode)(const uint8_t* data, size_t size, Allocate allocate, void* context);
};
