// What the emulator makes of single instructions. On a processor that has AMX the same tests hold for the processor, but for those of
// broken rules.
#include "support/amx_emulator.h"

#include <cmath>
#include <cstring>

#include "amx/support.h"
#include "compute/support.h"

#if defined(__linux__) && defined(__x86_64__)

namespace rh::test {
namespace {

struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

void load_config(const Config& config) { __asm__ volatile("ldtilecfg %0" : : "m"(config) : "memory"); }
void release() { __asm__ volatile("tilerelease" : : : "memory"); }

class AmxInstructions : public AmxTest {
 protected:
  void SetUp() override {
    AmxTest::SetUp();
    if (AmxEmulator::native() && !compute::amx_usable()) GTEST_SKIP() << compute::amx_status().reason;
  }
};

Config sizes(int rows, int pairs, int columns) {
  Config config;
  const auto set = [&](int tile, int r, int bytes) {
    config.rows[tile] = static_cast<uint8_t>(r);
    config.row_bytes[tile] = static_cast<uint16_t>(bytes);
  };
  set(0, rows, 4 * columns);
  set(1, rows, 4 * pairs);
  set(2, pairs, 4 * columns);
  return config;
}

/// c + a b with tiles of these sizes; rows of every operand are 20 words apart.
constexpr int64_t kStride = 80;
void run_product(const Config& config, const uint32_t* a, const uint32_t* b, float* c) {
  load_config(config);
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm0" : : "r"(c), "r"(kStride) : "memory");
  __asm__ volatile("tileloaddt1 (%0,%1,2), %%tmm1" : : "r"(a), "r"(kStride / 2) : "memory");
  __asm__ volatile("tileloadd -64(%0,%1,1), %%tmm2" : : "r"(b + 16), "r"(kStride) : "memory");
  __asm__ volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" : :);
  __asm__ volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(c), "r"(kStride) : "memory");
  release();
}

float part(uint32_t pair, bool odd) {
  const uint32_t bits = odd ? pair & 0xffff0000u : pair << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
float flushed(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }

/// The documented order: even and odd elements apart, then both, then the sum that was there.
float expected(const uint32_t* a, const uint32_t* b, int pairs, int column, float c) {
  float sums[2] = {};
  for (int k = 0; k < pairs; ++k) {
    for (const bool odd : {false, true}) {
      const float left = flushed(part(a[k], odd)), right = flushed(part(b[k * 20 + column], odd));
      sums[odd] = flushed(std::fma(left, right, sums[odd]));
    }
  }
  return flushed(flushed(c) + flushed(sums[0] + sums[1]));
}

TEST_F(AmxInstructions, products_are_summed_in_the_documented_order) {
  std::mt19937 engine(1);
  for (const auto& [rows, pairs, columns] : {std::array{16, 16, 16}, std::array{1, 1, 1}, std::array{13, 16, 7}, std::array{5, 3, 16}}) {
    for (const int spread : {2, 20, 60}) {
      std::vector<uint32_t> a(320), b(320);
      std::vector<float> c(320, 42.0f);
      const auto code = [&] {
        const int exponent = static_cast<int>(engine() % static_cast<uint32_t>(spread)) - spread;
        const float x = std::ldexp(1.0f + static_cast<float>(engine() % 128) / 128, exponent);
        uint32_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        return bits >> 16 | (engine() & 1) << 15;
      };
      for (uint32_t& pair : a) pair = code() | code() << 16;
      for (uint32_t& pair : b) pair = code() | code() << 16;
      const std::vector<float> before = c;
      run_product(sizes(rows, pairs, columns), a.data(), b.data(), c.data());
      for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 20; ++j) {
          const size_t at = static_cast<size_t>(i * 20 + j);
          if (i >= rows || j >= columns) {
            ASSERT_EQ(c[at], before[at]) << "outside of the tile at row " << i << " column " << j;
          } else {
            ASSERT_EQ(c[at], expected(a.data() + i * 20, b.data(), pairs, j, before[at])) << "row " << i << " column " << j;
          }
        }
      }
    }
  }
}

TEST_F(AmxInstructions, denormal_numbers_count_as_zero_whatever_the_mode_of_the_thread) {
  std::vector<uint32_t> a(320), b(320);
  std::vector<float> c(320, 0.0f);
  a[0] = 0x0001;  // the least denormal number
  b[0] = 0x7f00;
  a[20] = 0x0080;  // 2^-126
  b[1] = 0x3f00;   // 0.5
  b[2] = 0x3f80;   // 1
  c[2] = 1e-40f;
  run_product(sizes(2, 1, 3), a.data(), b.data(), c.data());
  EXPECT_EQ(c[0], 0.0f);
  EXPECT_EQ(c[2], 0.0f) << "the sum that was there";
  EXPECT_EQ(c[21], 0.0f) << "a product";
  EXPECT_EQ(c[22], 0x1p-126f);
}

TEST_F(AmxInstructions, loads_clear_what_the_tile_does_not_have) {
  Config config = sizes(2, 2, 2);
  std::vector<float> words(320, 1.0f), out(320, 7.0f);
  load_config(config);
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm0" : : "r"(words.data()), "r"(kStride) : "memory");
  __asm__ volatile("tilezero %%tmm1" : :);
  __asm__ volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(out.data()), "r"(kStride) : "memory");
  __asm__ volatile("tilestored %%tmm1, 8(%0,%1,1)" : : "r"(out.data()), "r"(kStride) : "memory");
  Config read;
  __asm__ volatile("sttilecfg %0" : "=m"(read) : : "memory");
  release();
  EXPECT_EQ(std::memcmp(&read, &config, sizeof config), 0);
  const float row[] = {1, 1, 0, 0, 7};
  for (const size_t begin : {size_t{0}, size_t{20}}) {
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(out[begin + i], row[i]) << begin + i;
  }
  EXPECT_EQ(out[40], 7.0f);
  load_config(Config{.palette = 0});
  __asm__ volatile("sttilecfg %0" : "=m"(read) : : "memory");
  EXPECT_EQ(read.palette, 0);
}

class AmxRules : public AmxInstructions {
 protected:
  void TearDown() override {
    if (emulator_) {
      release();
      found_ = emulator_->violations();
      emulator_.reset();
      if (expected_.empty()) return;
      ASSERT_EQ(found_.size(), 1u);
      EXPECT_NE(found_[0].find(expected_), std::string::npos) << found_[0];
    }
    AmxInstructions::TearDown();
  }
  /// False where the processor itself would end the process.
  bool expects(const std::string& text) {
    if (AmxEmulator::native()) return false;
    expected_ = text;
    return true;
  }
  std::vector<std::string> found_;
  std::string expected_;
};

TEST_F(AmxRules, tiles_are_configured_first) {
  if (expects("not configured")) __asm__ volatile("tilezero %%tmm3" : :);
}
TEST_F(AmxRules, empty_tiles_are_not_used) {
  if (!expects("configuration is empty")) return;
  load_config(sizes(1, 1, 1));
  __asm__ volatile("tilezero %%tmm3" : :);
}
TEST_F(AmxRules, sizes_of_products_fit) {
  if (!expects("do not fit")) return;
  Config config = sizes(4, 4, 4);
  config.rows[2] = 3;
  load_config(config);
  __asm__ volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" : :);
}
TEST_F(AmxRules, operands_are_different_tiles) {
  if (!expects("stands twice")) return;
  load_config(sizes(4, 4, 4));
  __asm__ volatile(".byte 0xc4, 0xe2, 0x72, 0x5c, 0xc1" : :);  // tdpbf16ps %tmm1, %tmm1, %tmm0
}
TEST_F(AmxRules, configurations_are_whole) {
  if (!expects("rows or columns alone")) return;
  Config config;
  config.rows[0] = 1;
  load_config(config);
}
TEST_F(AmxRules, reserved_bytes_are_zero) {
  if (!expects("reserved byte")) return;
  Config config = sizes(1, 1, 1);
  config.reserved[3] = 1;
  load_config(config);
}
TEST_F(AmxRules, tiles_are_not_too_large) {
  if (!expects("too large")) return;
  load_config(sizes(17, 1, 1));
}

using AmxRulesDeathTest = AmxRules;
TEST_F(AmxRulesDeathTest, other_instructions_end_the_process_as_ever) { EXPECT_DEATH(__asm__ volatile("ud2" : :), ""); }

}  // namespace
}  // namespace rh::test

#endif
