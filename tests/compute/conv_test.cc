#include "compute/conv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "compute/conv_blocked.h"
#include "compute/conv_blocked_impl.h"
#include "compute/conv_parts.h"
#include "compute/support.h"
#include "tensor/float_types.h"

namespace rh::compute {
namespace {

struct Case {
  const char* what;
  ConvChannels channels;
  int64_t batch;
  int64_t input[3], kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3];
};

const Case kCases[] = {
    {"pointwise", {20, 33, 1}, 2, {1, 7, 9}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, one pixel", {70, 5, 1}, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, one pixel, batch and groups", {60, 45, 3}, 3, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, k above one block", {600, 15, 1}, 1, {1, 4, 8}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, one block and a half, sums in parts", {150, 24, 1}, 1, {1, 5, 8}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, stride 2", {9, 16, 1}, 1, {1, 13, 13}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3", {17, 30, 1}, 1, {1, 14, 14}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, rows shorter than a vector", {40, 29, 1}, 2, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, wider than a panel, odd", {16, 16, 1}, 1, {1, 13, 75}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, many channels, few tiles", {70, 65, 1}, 1, {1, 9, 13}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, nine tiles", {64, 64, 1}, 1, {1, 6, 6}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, sixteen tiles", {64, 65, 1}, 1, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, stride 2, six tiles", {64, 120, 1}, 1, {1, 10, 7}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, some bands of tiles", {33, 40, 1}, 1, {1, 47, 31}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, wider than a strip of tiles", {17, 18, 1}, 1, {1, 21, 405}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 2}, {0, 0, 1}},
    {"3x3, one wide row of tiles", {64, 64, 1}, 1, {1, 2, 1001}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, groups, no padding", {48, 34, 2}, 2, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3, more padding than taps", {16, 17, 1}, 1, {1, 5, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 4, 3}, {0, 0, 5}},
    {"3x3, input not read to its end", {16, 16, 1}, 1, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, -1, -2}, {0, -1, -1}},
    {"3x3, one output", {200, 30, 1}, 1, {1, 3, 3}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3 planes of a volume", {16, 20, 1}, 1, {3, 6, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"3x3, stride 2", {8, 14, 1}, 1, {1, 15, 57}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"7x7, stride 2, three channels", {3, 64, 1}, 1, {1, 40, 41}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}, {0, 3, 3}},
    {"11x11, stride 4, three channels, k above one block",
     {3, 20, 1},
     1,
     {1, 60, 61},
     {1, 11, 11},
     {1, 4, 4},
     {1, 1, 1},
     {0, 2, 2},
     {0, 2, 1}},
    {"4x6, stride 4, wider than a vector of quadruples", {1, 9, 1}, 1, {1, 20, 301}, {1, 4, 6}, {1, 4, 4}, {1, 1, 1}, {0, 3, 3}, {0, 0, 2}},
    {"5x5, stride 3, two channels", {2, 9, 1}, 2, {1, 47, 50}, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 0, 1}, {0, 2, 1}},
    {"3x3, stride 2, many channels, odd outputs", {33, 70, 1}, 2, {1, 29, 33}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 0}},
    {"3x3, stride 2, bands of tiles", {64, 40, 1}, 1, {1, 90, 94}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 1, 1}},
    {"3x3, stride 2, groups, more padding than taps", {64, 68, 2}, 1, {1, 9, 40}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 5, 4}, {0, 4, 5}},
    {"3x3, stride 2, input not read to its end", {30, 33, 1}, 1, {1, 19, 21}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, -2, -3}, {0, -1, -1}},
    {"3x3, stride 2, planes of a volume", {32, 34, 1}, 1, {3, 12, 14}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"5x5", {20, 45, 1}, 2, {1, 13, 38}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"5x5, stride 2", {12, 64, 1}, 1, {1, 31, 27}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}, {0, 1, 2}},
    {"7x7, stride 2, odd outputs", {6, 64, 1}, 1, {1, 49, 77}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}, {0, 3, 3}},
    {"11x11, stride 4", {3, 64, 1}, 1, {1, 83, 87}, {1, 11, 11}, {1, 4, 4}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"9x4, stride 3 and 1", {8, 33, 1}, 1, {1, 43, 29}, {1, 9, 4}, {1, 3, 1}, {1, 1, 1}, {0, 4, 1}, {0, 4, 2}},
    {"2x7, stride 2 and 1", {20, 36, 1}, 1, {1, 30, 25}, {1, 2, 7}, {1, 2, 1}, {1, 1, 1}, {0, 0, 3}, {0, 0, 3}},
    {"1x7", {40, 32, 1}, 1, {1, 9, 17}, {1, 1, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 3}, {0, 0, 3}},
    {"7x1", {40, 35, 1}, 2, {1, 17, 9}, {1, 7, 1}, {1, 1, 1}, {1, 1, 1}, {0, 3, 0}, {0, 3, 0}},
    {"one dimension, many channels, stride 2", {60, 50, 1}, 1, {1, 1, 201}, {1, 1, 5}, {1, 1, 2}, {1, 1, 1}, {0, 0, 2}, {0, 0, 2}},
    {"pointwise, 7x7", {130, 77, 1}, 2, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, 7x7, sums over blocks and groups", {600, 80, 2}, 1, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"pointwise, stride 2, 7x7", {130, 64, 1}, 1, {1, 13, 14}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3, stride 2, 7x7", {20, 64, 1}, 2, {1, 14, 13}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, strongly dilated", {130, 40, 1}, 1, {1, 20, 21}, {1, 3, 3}, {1, 1, 1}, {1, 12, 12}, {0, 12, 12}, {0, 12, 12}},
    {"3x3, dilated beyond the input, many channels", {300, 33, 1}, 1, {1, 9, 18}, {1, 3, 3}, {1, 1, 1}, {1, 30, 6}, {0, 30, 6}, {0, 30, 6}},
    {"3x3, dilated by half the plane", {17, 20, 1}, 2, {1, 12, 10}, {1, 3, 3}, {1, 1, 1}, {1, 6, 5}, {0, 6, 5}, {0, 6, 5}},
    {"3x3, pairs in rows alone", {16, 33, 1}, 1, {1, 19, 7}, {1, 3, 3}, {1, 1, 1}, {1, 11, 8}, {0, 11, 8}, {0, 11, 8}},
    {"3x3, dilated by less than half the plane", {130, 33, 1}, 1, {1, 21, 20}, {1, 3, 3}, {1, 1, 1}, {1, 10, 10}, {0, 10, 10}, {0, 10, 10}},
    {"wholly padding, many channels", {130, 33, 1}, 1, {1, 4, 4}, {1, 2, 2}, {1, 1, 1}, {1, 9, 9}, {0, 8, 8}, {0, 5, 5}},
    {"dilated planes of a volume", {130, 33, 1}, 1, {2, 6, 7}, {2, 3, 3}, {1, 1, 1}, {1, 5, 5}, {1, 5, 5}, {0, 5, 5}},
    {"3x3, one channel", {1, 9, 1}, 2, {1, 28, 27}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x5, stride 2, dilated, few channels", {3, 17, 1}, 2, {1, 45, 53}, {1, 3, 5}, {1, 1, 2}, {1, 2, 3}, {0, 0, 5}, {0, 3, 2}},
    {"3x3, stride 2, few channels, padding at the end", {3, 16, 1}, 1, {1, 64, 64}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 1, 1}},
    {"padding at one side", {4, 6, 1}, 1, {1, 10, 10}, {1, 3, 2}, {1, 1, 3}, {1, 1, 1}, {0, 2, 0}, {0, 0, 3}},
    {"padding beyond the kernel", {2, 3, 1}, 1, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 4, 4}, {0, 4, 4}},
    {"dilated", {5, 7, 1}, 1, {1, 20, 22}, {1, 3, 3}, {1, 1, 2}, {1, 2, 3}, {0, 2, 3}, {0, 2, 3}},
    {"dilated beyond the input", {300, 7, 1}, 1, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {1, 12, 6}, {0, 12, 6}, {0, 12, 6}},
    {"wholly padding", {300, 7, 1}, 1, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {1, 6, 6}, {0, 5, 5}, {0, 4, 4}},
    {"groups", {12, 18, 3}, 2, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, groups of 4, blocks not full", {28, 28, 7}, 2, {1, 9, 23}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, groups of 4, stride 2", {32, 32, 8}, 1, {1, 14, 37}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}},
    {"3x3, groups of 8", {40, 40, 5}, 2, {1, 7, 17}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, groups of 8, stride 2, more padding than taps",
     {32, 32, 4},
     1,
     {1, 9, 30},
     {1, 3, 3},
     {1, 2, 2},
     {1, 1, 1},
     {0, 4, 3},
     {0, 3, 5}},
    {"3x3, groups of 16", {48, 48, 3}, 2, {1, 7, 19}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, groups of 32 and 48, stride 2", {64, 96, 2}, 1, {1, 15, 14}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"pointwise, groups of 32 and 16", {96, 48, 3}, 2, {1, 5, 8}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"groups, one input channel each", {4, 8, 4}, 1, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"one dimension", {6, 10, 1}, 2, {1, 1, 100}, {1, 1, 5}, {1, 1, 1}, {1, 1, 1}, {0, 0, 2}, {0, 0, 2}},
    {"three dimensions", {3, 5, 1}, 1, {6, 7, 8}, {3, 2, 3}, {2, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
    {"3x3, groups of 4, one vector and more", {16, 16, 4}, 2, {1, 19, 28}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, groups of 4 and 5, stride 2", {8, 10, 2}, 1, {1, 57, 33}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"5x5, one output channel, bands of rows", {40, 1, 1}, 1, {1, 63, 47}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"3x3x3, stride 2, few channels, bands of depths", {7, 6, 1}, 1, {41, 13, 17}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"3x3x3, stride 2, rows of half a vector of 16, bands of depths",
     {30, 6, 1},
     2,
     {29, 13, 16},
     {3, 3, 3},
     {2, 2, 2},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1}},
    {"3x3x3, stride 2, rows of half a vector of 16, not read to their end",
     {5, 9, 1},
     1,
     {6, 9, 23},
     {3, 3, 3},
     {2, 2, 2},
     {1, 1, 1},
     {1, 2, -3},
     {0, 1, -3}},
    {"5x5, stride 2, rows of half a vector of 16, padded by more than the taps",
     {8, 9, 1},
     1,
     {1, 9, 4},
     {1, 5, 5},
     {1, 2, 2},
     {1, 1, 1},
     {0, 6, 7},
     {0, 5, 8}},
    {"3x3x3, stride 2, rows of a vector and a half of 16, not read to their end",
     {9, 5, 1},
     1,
     {5, 7, 60},
     {3, 3, 3},
     {2, 2, 2},
     {1, 1, 1},
     {1, 1, -5},
     {1, 1, -5}},
    {"3x3x3, stride 2, rows of one, two outputs of a depth",
     {9, 5, 1},
     1,
     {8, 4, 2},
     {3, 3, 3},
     {2, 2, 2},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1}},
    {"3x3x3, stride 3, dilated", {7, 5, 1}, 1, {12, 13, 25}, {3, 3, 3}, {3, 3, 3}, {1, 2, 2}, {1, 2, 2}, {1, 2, 2}},
    {"3x4x2, stride 4, 3 and 2, dilated", {5, 3, 1}, 2, {19, 23, 31}, {3, 4, 2}, {4, 3, 2}, {1, 2, 3}, {2, 0, -1}, {1, 3, 2}},
    {"3x3, dilated by two", {33, 40, 1}, 2, {1, 35, 37}, {1, 3, 3}, {1, 1, 1}, {1, 2, 2}, {0, 2, 2}, {0, 2, 2}},
    {"3x3, dilated, input not read to its end", {32, 34, 1}, 1, {1, 41, 22}, {1, 3, 3}, {1, 1, 1}, {1, 3, 2}, {0, -2, 5}, {0, 1, -1}},
    {"3x3x3, dilated in depth and width, stride in height",
     {8, 33, 1},
     1,
     {9, 11, 20},
     {3, 3, 3},
     {1, 2, 1},
     {2, 1, 3},
     {2, 1, 3},
     {2, 1, 3}},
    {"one dimension, dilated", {48, 64, 1}, 1, {1, 1, 203}, {1, 1, 7}, {1, 1, 1}, {1, 1, 3}, {0, 0, 9}, {0, 0, 9}},
    {"3x3x3, whole panels of channels", {9, 33, 1}, 2, {5, 9, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"3x3x3, groups, strided and dilated in depth", {24, 34, 2}, 1, {9, 6, 11}, {3, 3, 3}, {2, 1, 1}, {2, 1, 1}, {3, 1, 2}, {0, 1, 1}},
    {"2x3x3, tiles of one plane", {8, 16, 1}, 1, {2, 10, 13}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 1}, {0, 0, 1}},
    {"3x3x3, stride 2, whole panels of channels", {16, 40, 1}, 1, {9, 12, 11}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"3x5x5, stride 1 and 3, groups, dilated in depth", {8, 66, 2}, 2, {7, 13, 20}, {3, 5, 5}, {1, 3, 3}, {3, 1, 1}, {4, 2, 2}, {3, 1, 2}},
    {"3x3, stride 2, rows of four tiles", {34, 40, 1}, 2, {1, 19, 16}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 0}},
    {"3x3, stride 2, rows of four tiles, three of two outputs",
     {37, 40, 1},
     2,
     {1, 14, 14},
     {1, 3, 3},
     {1, 2, 2},
     {1, 1, 1},
     {0, 1, 1},
     {0, 1, 1}},
    {"3x3x3, stride 2, planes of a vector of tiles", {13, 33, 1}, 1, {5, 16, 16}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"3x3, stride 2, rows of four tiles, input not read to its end",
     {32, 32, 1},
     1,
     {1, 21, 19},
     {1, 3, 3},
     {1, 2, 2},
     {1, 1, 1},
     {0, 3, -1},
     {0, -2, -1}},
    {"3x3, stride 2, rows of eight tiles, seven of two outputs",
     {32, 32, 1},
     1,
     {1, 27, 26},
     {1, 3, 3},
     {1, 2, 2},
     {1, 1, 1},
     {0, 1, 5},
     {0, 1, 0}},
    {"5x5, stride 2, rows of two tiles", {12, 33, 1}, 1, {1, 15, 9}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}, {0, 2, 1}},
    {"5x5, rows of eight tiles", {12, 32, 1}, 1, {1, 21, 16}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"3x7, stride 4, rows of two tiles", {16, 32, 1}, 1, {1, 26, 15}, {1, 3, 7}, {1, 4, 4}, {1, 1, 1}, {0, 1, 3}, {0, 1, 3}},
    {"2x2 / 2, many bands when transposed", {64, 8, 1}, 1, {1, 150, 91}, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"2x2 / 2, padding", {7, 5, 1}, 2, {1, 19, 23}, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}},
    {"2x3x3 / 2x3x3, groups", {6, 4, 2}, 2, {4, 9, 12}, {2, 3, 3}, {2, 3, 3}, {1, 1, 1}, {0, 0, 2}, {0, 0, 1}},
    {"2x2 / 2, input not read", {5, 4, 1}, 1, {1, 12, 11}, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {0, -2, -1}, {0, -1, 0}},
    {"depthwise 4x4, stride 2", {9, 9, 9}, 2, {1, 28, 30}, {1, 4, 4}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 2x2, stride 3", {3, 3, 3}, 1, {1, 17, 12}, {1, 2, 2}, {1, 3, 3}, {1, 1, 1}, {0, 0, 1}, {0, 0, 0}},
    {"depthwise 3x4x4, stride 2, dilated", {4, 4, 4}, 1, {7, 13, 19}, {3, 4, 4}, {2, 2, 2}, {1, 2, 3}, {1, 2, 0}, {0, 2, 5}},
    {"depthwise 3x3", {10, 10, 10}, 2, {1, 14, 70}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 3x3, small", {10, 10, 10}, 1, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 5x5, 7x7", {35, 35, 35}, 2, {1, 7, 7}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"depthwise 7x7, rows of two strips", {20, 20, 20}, 2, {1, 9, 19}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 3, 3}, {0, 3, 3}},
    {"depthwise 7x7, stride 2", {17, 17, 17}, 1, {1, 16, 37}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}, {0, 2, 3}},
    {"depthwise 7x7, planes smaller than the taps", {5, 5, 5}, 1, {1, 4, 5}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 3, 3}, {0, 3, 3}},
    {"depthwise 5x5, 8x3", {7, 7, 7}, 1, {1, 8, 3}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"depthwise 3x3, 4x8", {4, 4, 4}, 1, {1, 4, 8}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 3x3, 5x6", {3, 3, 3}, 1, {1, 5, 6}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 3x3, 6x1", {3, 3, 3}, 1, {1, 6, 1}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 3x3, stride 2", {5, 5, 5}, 1, {1, 29, 45}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 5x5, stride 2", {5, 5, 5}, 1, {1, 28, 28}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"depthwise 5x5, stride 3, dilated", {5, 5, 5}, 1, {1, 28, 30}, {1, 5, 5}, {1, 1, 3}, {1, 2, 2}, {0, 2, 4}, {0, 2, 4}},
    {"depthwise 5x5, dilated", {7, 7, 7}, 2, {1, 20, 21}, {1, 5, 5}, {1, 1, 1}, {1, 2, 2}, {0, 4, 4}, {0, 4, 4}},
    {"depthwise 3x3, dilated beyond the input", {3, 3, 3}, 1, {1, 5, 6}, {1, 3, 3}, {1, 1, 1}, {1, 9, 9}, {0, 9, 9}, {0, 9, 9}},
    {"depthwise 7x7", {3, 3, 3}, 1, {1, 19, 50}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 3, 3}, {0, 3, 3}},
    {"depthwise 7x7, stride 2, one side", {3, 3, 3}, 1, {1, 40, 71}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 5, 0}, {0, 0, 6}},
    {"depthwise 3x3, one row beyond a block", {2, 2, 2}, 1, {1, 9, 16}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise 3x3, very wide", {2, 2, 2}, 1, {1, 3, 2050}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"depthwise, one side", {5, 5, 5}, 1, {1, 12, 12}, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 1, 1}},
    {"depthwise 3x3, cropped", {4, 4, 4}, 2, {1, 14, 25}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, -1, -2}, {0, -1, 0}},
    {"depthwise 9x9, cropped", {3, 3, 3}, 1, {1, 20, 19}, {1, 9, 9}, {1, 1, 1}, {1, 1, 1}, {0, -1, -2}, {0, 4, 4}},
    {"depthwise 4x4, stride 2, cropped", {3, 3, 3}, 1, {1, 20, 19}, {1, 4, 4}, {1, 2, 2}, {1, 1, 1}, {0, -2, -3}, {0, 1, -1}},
    {"depthwise 3x3x3, cropped", {3, 3, 3}, 1, {8, 9, 20}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {-2, -1, -4}, {1, 1, -1}},
    {"depthwise, input not read to its end", {5, 5, 5}, 1, {1, 12, 13}, {1, 2, 2}, {1, 5, 5}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"depthwise, three dimensions", {4, 4, 4}, 1, {5, 6, 7}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
};

template <typename T>
std::vector<double> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

/// What `make` gives for a case of kCases, made once and kept: its data are the same in the tests of every instruction set. `made` holds
/// what is of one kind.
template <typename Value, typename Make>
const Value& made_once(std::map<std::pair<const Case*, int64_t>, Value>& made, const Case& c, int64_t extra, const Make& make) {
  const auto [at, is_new] = made.try_emplace({&c, extra});
  if (is_new) at->second = make();
  return at->second;
}

/// The result, and the same with absolute values, which scales the bound.
struct DoubleSums {
  std::vector<double> expected, magnitude;
};
const DoubleSums& sums_in_double(const Case& c, const Window& w, const std::vector<float>& x, const std::vector<float>& weights,
                                 const std::vector<float>& bias) {
  const auto absolute = [](std::vector<double> values) {
    for (double& v : values) v = std::fabs(v);
    return values;
  };
  const auto sums = [&](const auto& values_of) {
    std::vector<double> y(static_cast<size_t>(c.batch * c.channels.out * w.output_size()));
    conv_reference<double>(c.channels, w, c.batch, values_of(widened(x)).data(), values_of(widened(weights)).data(),
                           values_of(widened(bias)).data(), y.data(), {});
    return y;
  };
  static std::map<std::pair<const Case*, int64_t>, DoubleSums> made;
  return made_once(made, c, 0, [&] { return DoubleSums{sums([](const std::vector<double>& values) { return values; }), sums(absolute)}; });
}

class ConvTest : public EveryIsa {};

TEST_P(ConvTest, within_the_bound_of_a_float_sum) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * w.input_size(), 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3),
                             residual = random_values(c.batch * c.channels.out * w.output_size(), 4);
    const auto& [expected, magnitude] = sums_in_double(c, w, x, weights, bias);
    for (const std::string_view variant : Convolution<float>::variants(c.channels, w)) {
      const Convolution<float> conv(c.channels, w, weights.data(), bias.data(), {}, variant);
      ASSERT_EQ(conv.variant(), variant);
      std::vector<float> y(residual.size(), 99), serial(residual.size());
      conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads());
      conv.run(w, c.batch, x.data(), nullptr, serial.data(), {});
      ASSERT_EQ(y, serial) << c.what << ", " << variant << ": the bits depend on the number of threads";
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_LE(std::fabs(y[i] - expected[i]), (k + 4) * 0x1p-24 * magnitude[i]) << c.what << ", " << variant << ", at " << i;
      }
    }
    for (const bool with_residual : {false, true}) {
      const Convolution<float> conv(c.channels, w, weights.data(), bias.data(),
                                    with_residual ? Activation{ActivationKind::relu} : Activation{});
      std::vector<float> y(residual.size(), 99), serial(residual.size()), in_place = residual;
      conv.run(w, c.batch, x.data(), with_residual ? residual.data() : nullptr, y.data(), three_threads());
      conv.run(w, c.batch, x.data(), with_residual ? residual.data() : nullptr, serial.data(), {});
      ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
      conv.run(w, c.batch, x.data(), in_place.data(), in_place.data(), three_threads());
      for (size_t i = 0; i < y.size(); ++i) {
        const double sum = expected[i] + residual[i], bound = (k + 4) * 0x1p-24 * (magnitude[i] + std::fabs(residual[i]));
        const double plain = with_residual ? std::max(sum, 0.0) : expected[i];
        ASSERT_LE(std::fabs(y[i] - plain), bound) << c.what << ", residual " << with_residual << ", at " << i;
        ASSERT_LE(std::fabs(in_place[i] - (with_residual ? std::max(sum, 0.0) : sum)), bound) << c.what << ", in place, at " << i;
      }
    }
  }
}

/// Between blocks of channels, and from planes: the same bound as that of every other variant.
TEST_P(ConvTest, blocks_of_channels_within_the_bound_of_a_float_sum) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), inputs = w.input_size(), outputs = w.output_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * inputs, 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3), residual = random_values(c.batch * c.channels.out * outputs, 4);
    const auto& [expected, magnitude] = sums_in_double(c, w, x, weights, bias);
    for (const BlockedInput input : {BlockedInput::blocks, BlockedInput::planes}) {
      if (!BlockedConvolution::fits(c.channels, w, input)) continue;
      const auto blocked = [&](const std::vector<float>& values, int64_t channels, int64_t plane) {
        std::vector<float> blocks(static_cast<size_t>(c.batch * channel_blocks(channels) * plane * kChannelBlock), 99.0f);
        to_blocked(values.data(), c.batch, channels, plane, blocks.data(), three_threads());
        return blocks;
      };
      const std::vector<float> from = input == BlockedInput::planes ? x : blocked(x, c.channels.in, inputs);
      const std::vector<float> added = blocked(residual, c.channels.out, outputs);
      for (const Activation& activation : {Activation{}, Activation{ActivationKind::relu}, Activation{ActivationKind::hard_swish}}) {
        const bool with_residual = activation.kind == ActivationKind::relu;
        const BlockedConvolution conv(c.channels, w, weights.data(), bias.data(), activation, input);
        std::vector<float> y(added.size(), 99), serial(added.size()), planes(residual.size());
        conv.run(w, c.batch, from.data(), with_residual ? added.data() : nullptr, y.data(), three_threads());
        conv.run(w, c.batch, from.data(), with_residual ? added.data() : nullptr, serial.data(), {});
        ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
        from_blocked(y.data(), c.batch, c.channels.out, outputs, planes.data(), three_threads());
        for (size_t i = 0; i < planes.size(); ++i) {
          const double more = with_residual ? residual[i] : 0, bound = 2 * (k + 4) * 0x1p-24 * (magnitude[i] + std::fabs(more));
          ASSERT_NEAR(planes[i], activated(activation, expected[i] + more), bound) << c.what << ", at " << i;
        }
      }
    }
  }
}

/// Two lines with each channel of each large tile, until all have been; results are the same.
TEST_P(ConvTest, blocks_of_channels_fetch_beside_their_sums) {
  Window w;
  w.input[1] = w.output[1] = 5;
  w.input[2] = w.output[2] = 9;
  const ConvChannels channels{40, 48, 1};
  const std::vector<float> x = random_values(channel_blocks(40) * kChannelBlock * 45, 1), weights = random_values(40 * 48, 2);
  const BlockedConvolution conv(channels, w, weights.data(), nullptr, {}, BlockedInput::blocks);
  EXPECT_EQ(conv.fetches_ahead(), cpu_features().avx512);
  std::vector<float> y(45 * 48), expected = y;
  conv.run(w, 1, x.data(), nullptr, expected.data(), {});
  const std::vector<std::byte> ahead(100'000);
  for (const size_t bytes : {size_t{0}, size_t{63}, size_t{1'000}, ahead.size()}) {
    const std::span<const std::byte> pieces[] = {{ahead.data(), bytes}, {ahead.data() + 64, 640}};
    conv.run(w, 1, x.data(), nullptr, y.data(), three_threads(), {}, pieces);
    ASSERT_EQ(y, expected) << bytes;
  }
  const BlockedStep step{0, 16};
  const char* const begin = reinterpret_cast<const char*>(ahead.data());
  FetchedLines fetched{begin, begin + 64 * 80};
  const BlockedSums sums{.x = x.data(),
                         .steps = &step,
                         .step_count = 1,
                         .x_pixel = kChannelBlock,
                         .weights = weights.data(),
                         .bias = nullptr,
                         .residual = nullptr,
                         .y = y.data(),
                         .y_block = 45 * kChannelBlock,
                         .half = false,
                         .more = false,
                         .low = -1e30f,
                         .high = 1e30f,
                         .fetched = &fetched};
  if (!conv.fetches_ahead()) return;
  blocked_kernels().sums(sums, 2, 7);
  EXPECT_EQ(fetched.next, begin) << "beside a small tile";
  blocked_kernels().sums(sums, 2, 14);
  EXPECT_EQ(fetched.next, begin + 64 * 64) << "16 channels, each once for either half of the tile";
  blocked_kernels().sums(sums, 2, 14);
  EXPECT_EQ(fetched.next, fetched.end) << "and no further";
}

/// Each line of a list belongs to one part, however many there are; what is less than a line is left out.
TEST(FetchedPart, PartsAreTheWholeListInOrder) {
  const std::vector<std::byte> memory(4096);
  const std::span<const std::byte> list[] = {
      {memory.data(), 640}, {memory.data() + 640, 63}, {memory.data() + 1024, 200}, {}, {memory.data() + 2048, 1024}};
  std::vector<ptrdiff_t> expected;
  for (const auto& [begin, lines] : {std::pair{0, 10}, {1024, 3}, {2048, 16}})
    for (int i = 0; i < lines; ++i) expected.push_back(begin + 64 * i);
  for (const int64_t count : {1, 2, 5, 29, 40}) {
    std::vector<ptrdiff_t> lines;
    for (int64_t i = 0, size = 1; i < count; i += size) {
      size = std::min<int64_t>(1 + i % 3, count - i);
      FetchedPart part(list, i, i + size, count);
      while (part.lines().next < part.lines().end) {
        lines.push_back(part.lines().next - reinterpret_cast<const char*>(memory.data()));
        part.lines().next += 64;
      }
    }
    EXPECT_EQ(lines, expected) << count;
  }
  FetchedPart none({}, 0, 1, 1);
  EXPECT_GE(none.lines().next, none.lines().end);
}

/// Gates multiply inputs, means are those of the result: as if a pass of its own did either.
TEST_P(ConvTest, blocks_of_channels_with_gates_and_means) {
  int gated = 0, averaged = 0;
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    if (!BlockedConvolution::fits(c.channels, w, BlockedInput::blocks)) continue;
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), inputs = w.input_size(), outputs = w.output_size();
    const int64_t in = channel_blocks(c.channels.in) * kChannelBlock, out = channel_blocks(c.channels.out) * kChannelBlock;
    const std::vector<float> x = random_values(c.batch * in * inputs, 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3), gates = random_values(c.batch * in, 4);
    const BlockedConvolution conv(c.channels, w, weights.data(), bias.data(), {ActivationKind::hard_swish}, BlockedInput::blocks);
    std::vector<float> y(static_cast<size_t>(c.batch * out * outputs), 99), expected = y, means(static_cast<size_t>(c.batch * out), 99);
    if (conv.takes_gates()) {
      ++gated;
      std::vector<float> scaled = x;
      for (size_t i = 0; i < x.size(); ++i)
        scaled[i] *= gates[i / static_cast<size_t>(inputs * kChannelBlock) * kChannelBlock + i % kChannelBlock];
      conv.run(w, c.batch, scaled.data(), nullptr, expected.data(), {});
      conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {.gates = gates.data()});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], static_cast<double>(k + 4) * 0x1p-20 * (1 + std::fabs(expected[i]))) << c.what << ", at " << i;
    }
    if (!conv.gives_means()) continue;
    ++averaged;
    conv.run(w, c.batch, x.data(), nullptr, expected.data(), {});
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {.means = means.data()});
    ASSERT_EQ(y, expected) << c.what;
    expect_means(y, outputs, means, c.what);
  }
  EXPECT_GE(gated, 5);
  EXPECT_GE(averaged, 4);
}

/// Sums of inputs, as Winograd's, would turn an infinity into NaN, and overflow early: such planes must be as the definition says.
TEST_P(ConvTest, infinities_and_huge_values_go_where_they_should) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const ConvChannels channels{16, 40, 1};
  Window w;
  w.input[1] = w.output[1] = 10;
  w.input[2] = w.output[2] = 85;
  w.kernel[1] = w.kernel[2] = 3;
  const std::vector<float> weights(40 * 16 * 9, 0x1p-9f);
  for (const auto& [variant, dilation] :
       {std::pair{"winograd", 1}, std::pair{"winograd_pixels", 1}, std::pair{"winograd_4x4", 1}, std::pair{"paired", 48}}) {
    w.pad_begin[1] = w.pad_begin[2] = w.dilation[1] = w.dilation[2] = dilation;
    const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, variant, ConvAccuracy::fast);
    ASSERT_EQ(conv.variant(), variant);
    for (const float value : {infinity, -infinity, nan, 0x1.8p127f}) {
      for (const int64_t at : {0, 10, 84, 5 * 85 + 57, 9 * 85 + 84}) {
        std::vector<float> x = random_values(16 * 850, 5), y(40 * 850), expected = y;
        x[static_cast<size_t>(3 * 850 + at)] = value;
        x[static_cast<size_t>(7 * 850 + at)] = value;
        conv.run(w, 1, x.data(), nullptr, y.data(), {});
        conv_reference<float>(channels, w, 1, x.data(), weights.data(), nullptr, expected.data(), {});
        std::vector<float> shared(y.size());
        conv.run(w, 1, x.data(), nullptr, shared.data(), three_threads());
        for (size_t i = 0; i < y.size(); ++i) {
          if (std::isfinite(expected[i])) {
            ASSERT_NEAR(y[i], expected[i], 1e-5 * std::max(1.0f, std::fabs(expected[i]))) << value << " at " << at << ", output " << i;
          } else {
            ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(y[i]) : y[i] == expected[i]) << y[i] << ", expected " << expected[i];
          }
          ASSERT_TRUE(std::isnan(y[i]) ? std::isnan(shared[i]) : y[i] == shared[i]) << value << " at " << at << ", output " << i;
        }
      }
    }
  }
}

/// The same of kernels of other sizes and strides: to the end of the plane and beyond where an output of the last tile lies outside.
TEST_P(ConvTest, infinities_and_huge_values_go_where_they_should_by_parts) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  struct Kernel {
    int64_t taps, stride, height, width;
  };
  for (const Kernel& k : {Kernel{3, 2, 21, 34}, Kernel{5, 1, 11, 17}, Kernel{7, 2, 22, 33}, Kernel{11, 4, 61, 43}}) {
    const ConvChannels channels{32, 40, 1};
    Window w;
    w.input[1] = k.height;
    w.input[2] = k.width;
    for (int d = 1; d < 3; ++d) {
      w.kernel[d] = k.taps;
      w.stride[d] = k.stride;
      w.pad_begin[d] = k.taps / 2;
      w.output[d] = (w.input[d] + 2 * w.pad_begin[d] - k.taps) / k.stride + 1;
    }
    const int64_t plane = k.height * k.width;
    const std::vector<float> weights(static_cast<size_t>(40 * 32 * k.taps * k.taps), 0x1p-9f);
    const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, "winograd_parts");
    ASSERT_EQ(conv.variant(), "winograd_parts");
    for (const float value : {infinity, -infinity, nan, 0x1.8p127f}) {
      for (const int64_t at : {int64_t{0}, k.width - 1, plane / 2, plane - 1}) {
        std::vector<float> x = random_values(32 * plane, 5), y(static_cast<size_t>(40 * w.output_size())), expected = y;
        x[static_cast<size_t>(plane + at)] = value;
        x[static_cast<size_t>(3 * plane + at)] = value;
        conv.run(w, 1, x.data(), nullptr, y.data(), {});
        conv_reference<float>(channels, w, 1, x.data(), weights.data(), nullptr, expected.data(), {});
        for (size_t i = 0; i < y.size(); ++i) {
          if (std::isfinite(expected[i])) {
            ASSERT_NEAR(y[i], expected[i], 1e-5 * std::max(1.0f, std::fabs(expected[i]))) << value << " at " << at << ", output " << i;
          } else {
            ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(y[i]) : y[i] == expected[i])
                << y[i] << ", expected " << expected[i] << " for " << value << " at " << at << ", " << k.taps << " taps";
          }
        }
      }
    }
  }
}

/// More threads than bands that are worth it, and weights that not every one of them may read: bands one after the other, each shared.
TEST_P(ConvTest, a_residual_in_place_is_added_once_where_threads_share_bands) {
  const ConvChannels channels{256, 260, 1};
  Window w;
  w.input[1] = w.output[1] = 14;
  w.input[2] = w.output[2] = 16;
  w.kernel[1] = w.kernel[2] = 3;
  w.pad_begin[1] = w.pad_begin[2] = 1;
  const std::vector<float> x = random_values(256 * 224, 1), weights = random_values(260 * 256 * 9, 2),
                           residual = random_values(260 * 224, 3);
  const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, "winograd_pixels");
  ASSERT_EQ(conv.variant(), "winograd_pixels");
  ASSERT_GT(conv.weight_bytes(), size_t{4} << 20);
  std::vector<float> serial(residual.size()), shared = residual;
  conv.run(w, 1, x.data(), residual.data(), serial.data(), {});
  conv.run(w, 1, x.data(), shared.data(), shared.data(), three_threads());
  EXPECT_EQ(shared, serial);
}

/// Weights of a window serve planes of other sizes.
TEST_P(ConvTest, parts_serve_planes_of_other_sizes) {
  const ConvChannels channels{12, 40, 1};
  Window made;
  made.kernel[1] = made.kernel[2] = 5;
  made.stride[1] = made.stride[2] = 2;
  made.pad_begin[1] = made.pad_begin[2] = 2;
  made.input[1] = made.input[2] = 40;
  made.output[1] = made.output[2] = 20;
  const std::vector<float> weights = random_values(12 * 40 * 25, 1), bias = random_values(40, 2);
  const Convolution<float> conv(channels, made, weights.data(), bias.data(), {}, "winograd_parts");
  ASSERT_EQ(conv.variant(), "winograd_parts");
  for (const auto& [height, width] : {std::pair{1, 1}, std::pair{2, 9}, std::pair{5, 1}, std::pair{67, 3}, std::pair{9, 131}}) {
    Window w = made;
    w.input[1] = height;
    w.input[2] = width;
    w.output[1] = (height + 1) / 2;
    w.output[2] = (width + 1) / 2;
    const std::vector<float> x = random_values(12 * w.input_size(), 3), residual = random_values(40 * w.output_size(), 4);
    std::vector<float> y = residual, expected(residual.size());
    conv_reference<float>(channels, w, 1, x.data(), weights.data(), bias.data(), expected.data(), {});
    conv.run(w, 1, x.data(), y.data(), y.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i] + residual[i], 1e-4) << height << " x " << width << ", at " << i;
  }
}

/// What was made for planes whose pairs lie far apart takes others as well, and infinities with a residual in place.
/// What is made of a row of tiles is read once for all output channels; where it does not stay near, plain products take less time.
TEST_P(ConvTest, rows_of_tiles_that_do_not_stay_near_are_taken_apart_where_the_third_level_is_near) {
  const ConvChannels channels{384, 384, 1};
  const std::vector<float> weights = random_values(384 * 384 * 3, 1);
  for (const auto& [length, fits] : {std::pair{200, true}, std::pair{3000, false}}) {
    Window w;
    w.input[2] = length;
    w.output[2] = length / 2;
    w.kernel[2] = 3;
    w.stride[2] = 2;
    w.pad_begin[2] = 1;
    ASSERT_TRUE(conv_takes_parts(channels, w));
    EXPECT_EQ(conv_parts_work(channels, w).fits, fits) << length;
    if (fits) continue;
    for (const bool near : {false, true}) {
      CpuFeatures cpu = cpu_features();
      cpu.near_l3 = near;
      const ScopedCpuFeatures scoped(cpu);
      const Convolution<float> conv(channels, w, weights.data(), nullptr, {});
      EXPECT_EQ(conv.variant() == "winograd_parts", near && cpu.avx512);
    }
  }
}

TEST_P(ConvTest, pairs_serve_planes_of_other_sizes) {
  const ConvChannels channels{17, 20, 1};
  Window made;
  made.input[1] = made.output[1] = made.input[2] = made.output[2] = 9;
  made.kernel[1] = made.kernel[2] = 3;
  made.pad_begin[1] = made.pad_begin[2] = made.dilation[1] = made.dilation[2] = 5;
  const std::vector<float> weights = random_values(17 * 20 * 9, 1), bias = random_values(20, 2);
  const Convolution<float> conv(channels, made, weights.data(), bias.data(), {}, "paired");
  ASSERT_EQ(conv.variant(), "paired");
  for (const auto& [height, width] : {std::pair{9, 9}, std::pair{4, 10}, std::pair{6, 3}, std::pair{13, 9}, std::pair{9, 24}}) {
    Window w = made;
    w.input[1] = w.output[1] = height;
    w.input[2] = w.output[2] = width;
    for (const bool finite : {true, false}) {
      std::vector<float> x = random_values(2 * 17 * height * width, 3), y = random_values(2 * 20 * height * width, 4), expected(y.size());
      if (!finite) x[static_cast<size_t>(17 * height * width + 2)] = std::numeric_limits<float>::infinity();
      conv_reference<float>(channels, w, 2, x.data(), weights.data(), bias.data(), expected.data(), {});
      for (size_t i = 0; i < y.size(); ++i) expected[i] += y[i];
      conv.run(w, 2, x.data(), y.data(), y.data(), three_threads());
      for (size_t i = 0; i < y.size(); ++i) {
        const bool alike = std::isfinite(expected[i]) ? std::fabs(y[i] - expected[i]) < 1e-4 : y[i] == expected[i];
        ASSERT_TRUE(alike) << y[i] << ", expected " << expected[i] << ", " << height << " x " << width << ", at " << i;
      }
    }
  }
}

/// Tiles of 4x4 outputs round more than float sums do: that is bounded by the largest sum of magnitudes of the result.
TEST_P(ConvTest, winograd_4x4_is_near_where_less_accuracy_is_asked_for) {
  const Case cases[] = {
      {"few channels", {17, 40, 1}, 2, {1, 33, 30}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
      {"many channels, bands", {200, 64, 1}, 1, {1, 39, 41}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
      {"wide, padding at one side", {16, 33, 1}, 1, {1, 9, 291}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 2, 0}, {0, 0, 3}},
      {"groups, planes of a volume", {40, 80, 2}, 1, {2, 30, 34}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0}, {0, 0, 0}},
  };
  for (const Case& c : cases) {
    const Window w = window_of(c);
    const std::vector<std::string_view> usual = Convolution<float>::variants(c.channels, w);
    ASSERT_EQ(std::ranges::count(usual, "winograd_4x4"), 0) << c.what;
    const int64_t k = c.channels.in / c.channels.groups * 9;
    const std::vector<float> x = random_values(c.batch * c.channels.in * w.input_size(), 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3);
    std::vector<float> y(static_cast<size_t>(c.batch * c.channels.out * w.output_size()), 99), serial = y, residual = y;
    std::vector<double> expected(y.size());
    conv_reference<double>(c.channels, w, c.batch, widened(x).data(), widened(weights).data(), widened(bias).data(), expected.data(), {});
    const Convolution<float> conv(c.channels, w, weights.data(), bias.data(), {}, "winograd_4x4", ConvAccuracy::fast);
    ASSERT_EQ(conv.variant(), "winograd_4x4") << c.what;
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads());
    conv.run(w, c.batch, x.data(), nullptr, serial.data(), {});
    ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
    const Convolution<float> exact(c.channels, w, weights.data(), bias.data(), {}, "winograd_4x4");
    ASSERT_NE(exact.variant(), "winograd_4x4") << c.what;
    double squares = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double error = y[i] - expected[i], magnitude = static_cast<double>(k) / 4;  // the mean of |x w|
      ASSERT_LE(std::fabs(error), 64 * 0x1p-24 * magnitude) << c.what << ", at " << i;
      squares += error * error / (magnitude * magnitude);
    }
    ASSERT_LE(std::sqrt(squares / static_cast<double>(y.size())), 4 * 0x1p-24) << c.what;
    conv.run(w, c.batch, x.data(), residual.data(), residual.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(residual[i], y[i] + 99) << c.what << ", at " << i;
  }
}

TEST_P(ConvTest, inputs_are_scaled_while_they_are_gathered) {
  int scaled = 0;
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), plane = w.input_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * plane, 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> scale = random_values(c.channels.in, 3), shift = random_values(c.channels.in, 4);
    std::vector<float> before = x, expected(static_cast<size_t>(c.batch * c.channels.out * w.output_size())), y = expected;
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t channel = i / static_cast<size_t>(plane) % scale.size();
      before[i] = std::max(0.0f, static_cast<float>(double{x[i]} * double{scale[channel]} + double{shift[channel]}));
    }
    for (const std::string_view variant : Convolution<float>::variants(c.channels, w)) {
      const Convolution<float> conv(c.channels, w, weights.data(), nullptr, {ActivationKind::relu}, variant);
      if (!conv.scales_input()) continue;
      conv.run(w, c.batch, before.data(), nullptr, expected.data(), {});
      conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {scale.data(), shift.data()});
      ++scaled;
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-6 * static_cast<double>(k)) << c.what << ", " << variant;
    }
  }
  EXPECT_GE(scaled, 6);
}

TEST_P(ConvTest, other_activations_come_last) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * w.input_size(), 1), weights = random_values(c.channels.out * k, 2);
    std::vector<float> plain(static_cast<size_t>(c.batch * c.channels.out * w.output_size())), activated = plain;
    Convolution<float>(c.channels, w, weights.data(), nullptr, {}).run(w, c.batch, x.data(), nullptr, plain.data(), three_threads());
    Convolution<float>(c.channels, w, weights.data(), nullptr, {ActivationKind::hard_swish})
        .run(w, c.batch, x.data(), nullptr, activated.data(), three_threads());
    for (size_t i = 0; i < plain.size(); ++i) {
      ASSERT_NEAR(activated[i], plain[i] * std::min(1.0, std::max(0.0, plain[i] / 6.0 + 0.5)), 1e-5) << c.what;
    }
  }
}

/// Against float64: `unit` a term of the sum (all are at most 1), and `rounding` of the result.
template <typename T>
void check_type(double unit, double rounding) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), outputs = c.batch * c.channels.out * w.output_size();
    const std::vector<T> x = random_values<T>(c.batch * c.channels.in * w.input_size(), 1),
                         weights = random_values<T>(c.channels.out * k, 2);
    const std::vector<T> bias = random_values<T>(c.channels.out, 3), residual = random_values<T>(outputs, 4);
    static std::map<std::pair<const Case*, int64_t>, std::vector<double>> made;
    const std::vector<double>& expected = made_once(made, c, 0, [&] {
      std::vector<double> sums(residual.size());
      conv_reference<double>(c.channels, w, c.batch, widened(x).data(), widened(weights).data(), widened(bias).data(), sums.data(), {});
      return sums;
    });
    const Convolution<T> conv(c.channels, w, weights.data(), bias.data(), {});
    std::vector<T> y(residual.size(), T(99.0f)), serial = y, in_place = residual;
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads());
    conv.run(w, c.batch, x.data(), nullptr, serial.data(), {});
    ASSERT_EQ(widened(y), widened(serial)) << c.what << ": the bits depend on the number of threads";
    conv.run(w, c.batch, x.data(), in_place.data(), in_place.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) {
      const double terms = static_cast<double>(k) + 4, bound = unit * terms * terms + 1e-7 * rounding,
                   sum = expected[i] + static_cast<double>(residual[i]);
      ASSERT_NEAR(static_cast<double>(y[i]), expected[i], bound + rounding * std::fabs(expected[i])) << c.what << ", at " << i;
      ASSERT_NEAR(static_cast<double>(in_place[i]), sum, bound + rounding * std::fabs(sum)) << c.what << ", in place, at " << i;
    }
  }
}

TEST_P(ConvTest, double_in_double) { check_type<double>(0x1p-53, 0); }
TEST_P(ConvTest, halves_are_rounded_once) {
  check_type<Float16>(0x1p-24, 0x1p-11);
  check_type<BFloat16>(0x1p-24, 0x1p-8);
}

RH_EVERY_ISA(ConvTest);

/// A transposed convolution is the gradient of a convolution: <conv(u), v> = <u, conv_transpose(v)>.
TEST(ConvTransposeReference, is_the_adjoint_of_the_convolution) {
  for (const Case& c : kCases) {
    const Window forward = window_of(c);
    Window backward = forward;
    for (int d = 0; d < 3; ++d) std::swap(backward.input[d], backward.output[d]);
    const ConvChannels swapped{c.channels.out, c.channels.in, c.channels.groups};
    const auto u = random_values<double>(c.batch * c.channels.in * forward.input_size(), 1);
    const auto v = random_values<double>(c.batch * c.channels.out * forward.output_size(), 2);
    const auto weights = random_values<double>(c.channels.out * c.channels.in / c.channels.groups * forward.kernel_size(), 3);
    std::vector<double> conv_u(v.size()), transposed_v(u.size());
    conv_reference<double>(c.channels, forward, c.batch, u.data(), weights.data(), nullptr, conv_u.data(), {});
    conv_transpose_reference<double>(swapped, backward, c.batch, v.data(), weights.data(), nullptr, transposed_v.data(), {});
    double left = 0, right = 0;
    for (size_t i = 0; i < v.size(); ++i) left += conv_u[i] * v[i];
    for (size_t i = 0; i < u.size(); ++i) right += u[i] * transposed_v[i];
    EXPECT_NEAR(left, right, 1e-9 * (1 + std::fabs(left))) << c.what;
  }
}

class TransposedConvTest : public EveryIsa {};
RH_EVERY_ISA(TransposedConvTest);

/// Against float64, on the geometry of every convolution turned round, and with outputs that no input reaches.
template <typename T>
void check_transposed(double unit, double rounding) {
  for (const Case& c : kCases) {
    for (const int64_t extra : {0, 2}) {
      Window w = window_of(c);
      for (int d = 0; d < 3; ++d) std::swap(w.input[d], w.output[d]);
      for (int d = 0; d < 3; ++d) w.output[d] += w.kernel[d] > 1 ? extra : 0;
      const ConvChannels channels{c.channels.out, c.channels.in, c.channels.groups};
      const auto x = random_values<T>(c.batch * channels.in * w.input_size(), 1), bias = random_values<T>(channels.out, 3);
      const auto weights = random_values<T>(channels.in * channels.out / channels.groups * w.kernel_size(), 2);
      static std::map<std::pair<const Case*, int64_t>, std::vector<double>> made;
      const std::vector<double>& expected = made_once(made, c, extra, [&] {
        std::vector<double> sums(static_cast<size_t>(c.batch * channels.out * w.output_size()));
        conv_transpose_reference<double>(channels, w, c.batch, widened(x).data(), widened(weights).data(), widened(bias).data(),
                                         sums.data(), {});
        return sums;
      });
      const TransposedConvolution<T> conv(channels, w, weights.data(), bias.data());
      std::vector<T> y(expected.size(), T(99.0f)), serial = y;
      conv.run(w, c.batch, x.data(), y.data(), three_threads());
      conv.run(w, c.batch, x.data(), serial.data(), {});
      ASSERT_EQ(widened(y), widened(serial)) << c.what << ": the bits depend on the number of threads";
      const double terms = static_cast<double>(channels.in / channels.groups * w.kernel_size()) + 4;
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i], unit * terms * terms + rounding * (std::fabs(expected[i]) + 1e-7))
            << c.what << " and " << extra << " more, at " << i;
      }
    }
  }
}

TEST_P(TransposedConvTest, within_the_bound_of_the_sum) {
  check_transposed<float>(0x1p-24, 0);
  check_transposed<double>(0x1p-53, 0);
  check_transposed<Float16>(0x1p-24, 0x1p-11);
  check_transposed<BFloat16>(0x1p-24, 0x1p-8);
}

TEST(ConvReference, one_value_by_hand) {
  Window w;
  w.input[2] = 3;
  w.kernel[2] = 2;
  w.output[2] = 4;
  w.pad_begin[2] = 1;
  const float x[] = {1, 2, 3}, weights[] = {10, 100}, bias[] = {0.5f};
  float y[4];
  conv_reference<float>({1, 1, 1}, w, 1, x, weights, bias, y, {});
  EXPECT_EQ(y[0], 100.5f);
  EXPECT_EQ(y[1], 210.5f);
  EXPECT_EQ(y[2], 320.5f);
  EXPECT_EQ(y[3], 30.5f);
}

}  // namespace
}  // namespace rh::compute
