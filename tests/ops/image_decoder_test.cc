#include <gtest/gtest.h>

#include <string_view>

#include "support/model_case.h"
#include "support/op_case.h"

namespace rh::test {
namespace {

Tensor bytes(std::string_view data) {
  return Tensor::from<uint8_t>({static_cast<int64_t>(data.size())}, {reinterpret_cast<const uint8_t*>(data.data()), data.size()});
}
template <size_t kSize>
Tensor file(const char (&data)[kSize]) {
  return bytes({data, kSize - 1});
}
Tensor image(Shape shape, std::vector<uint8_t> pixels) { return Tensor::from<uint8_t>(std::move(shape), pixels); }
Tensor nothing() { return image({0, 0, 3}, {}); }

constexpr char kModel[] = R"(<ir_version: 9, opset_import: ["" : 20]>
g (uint8[N] x) => (uint8[H, W, C] y) { y = ImageDecoder (x) })";
constexpr char kSwapped[] = R"(<ir_version: 9, opset_import: ["" : 20]>
g (uint8[N] x) => (uint8[H, W, C] y) { y = ImageDecoder <pixel_format = "BGR"> (x) })";
constexpr char kGrey[] = R"(<ir_version: 9, opset_import: ["" : 20]>
g (uint8[N] x) => (uint8[H, W, C] y) { y = ImageDecoder <pixel_format = "Grayscale"> (x) })";

/// Two pixels, red and blue, bottom up and blue first as BMP files are, each row filled up to four bytes.
constexpr char kBmp[] =
    "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\xff\xff\0\0\0\0";

const std::vector<ModelCase> kImageDecoder = {
    {"BMP", kModel, {file(kBmp)}, {}, {image({1, 2, 3}, {255, 0, 0, 0, 0, 255})}},
    {"BMP, blue first", kSwapped, {file(kBmp)}, {}, {image({1, 2, 3}, {0, 0, 255, 255, 0, 0})}},
    {"BMP, grey", kGrey, {file(kBmp)}, {}, {image({1, 2, 1}, {76, 29})}},
    {"bits in text", kModel, {file("P1\n# a comment\n2 1\n1 0\n")}, {}, {image({1, 2, 3}, {0, 0, 0, 255, 255, 255})}},
    {"grey values in text", kGrey, {file("P2 2 2 10\n0 5\n10 2\n")}, {}, {image({2, 2, 1}, {0, 128, 255, 51})}},
    {"colours in text", kModel, {file("P3 1 1 255 1 2 3 ")}, {}, {image({1, 1, 3}, {1, 2, 3})}},
    {"bits",
     kGrey,
     {file("P4 9 2\n\x80\x80\x00\x00")},
     {},
     {image({2, 9, 1}, {0, 255, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255})}},
    {"16-bit grey values", kGrey, {file("P5 2 1 65535\n\x00\x00\xff\xff")}, {}, {image({1, 2, 1}, {0, 255})}},
    {"colours", kModel, {file("P6 1 2 255\nabcdef")}, {}, {image({2, 1, 3}, {'a', 'b', 'c', 'd', 'e', 'f'})}},
    {"no bytes", kModel, {bytes("")}, {}, {nothing()}},
    {"no image", kModel, {file("hello, world")}, {}, {nothing()}},
    {"PNM cut off", kModel, {file("P6 10 20 255\nabcdef")}, {}, {nothing()}},
    {"PNM of wild size", kModel, {file("P6 99999999 99999999 255\nabcdef")}, {}, {nothing()}},
    {"BMP cut off", kModel, {bytes({kBmp, 20})}, {}, {nothing()}},
    {"damaged PNG", kModel, {file("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR garbage")}, {}, {nothing()}},
    {"damaged JPEG", kModel, {file("\xff\xd8\xff\xe0 garbage, more garbage")}, {}, {nothing()}},
    {"damaged JPEG 2000", kModel, {file("\0\0\0\x0cjP  \r\n\x87\n garbage")}, {}, {nothing()}},
    {"damaged TIFF", kModel, {file("II*\0\x08\0\0\0 garbage")}, {}, {nothing()}},
    {"damaged WebP", kModel, {file("RIFF\x10\0\0\0WEBPVP8 garbage")}, {}, {nothing()}},
};
TEST(ModelCases, ImageDecoder) { run_model_cases(kImageDecoder); }

const std::vector<OpCase> kRefused = {
    {20, {attr("pixel_format", "CMYK")}, {values({2}, {1, 2})}, "unknown pixels", {"ImageDecoder(", "CMYK", "BGR"}},
    {20, {}, {values({1, 2}, {1, 2})}, "a matrix of bytes", {"ImageDecoder(", "[1, 2]"}},
};
RH_OP_TEST(ImageDecoder, kRefused, Types<uint8_t>::set)

}  // namespace
}  // namespace rh::test
