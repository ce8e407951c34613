// The tables as a whole: versions, no empty slot, stubs that say their name, null arguments everywhere.
#include <cstring>
#include <set>

#include "library.h"
#include "roundhouse/roundhouse_c_api.h"

extern "C" int c_client_rank(const OrtApi* api, const int64_t* shape, size_t rank);

namespace rh::test {
namespace {

using TablesTest = ApiTest;

TEST_F(TablesTest, EveryVersionGivesTheSameTable) {
  const OrtApiBase& base = *Library::get().base;
  for (uint32_t version = 1; version <= ORT_API_VERSION; ++version) EXPECT_EQ(base.GetApi(version), &api) << version;
  EXPECT_EQ(base.GetApi(0), nullptr);
  EXPECT_EQ(base.GetApi(ORT_API_VERSION + 1), nullptr);
}

TEST_F(TablesTest, CClient) {
  const int64_t shape[] = {2, 3, 4};
  EXPECT_EQ(c_client_rank(&api, shape, 3), 3);
  const int64_t wrong[] = {-2};
  EXPECT_EQ(c_client_rank(&api, wrong, 1), -1);
}

template <typename Table>
void expect_no_null(const Table* table, const char* name) {
  ASSERT_NE(table, nullptr) << name;
  void* slots[sizeof(Table) / sizeof(void*)];
  std::memcpy(slots, table, sizeof slots);
  for (size_t i = 0; i < std::size(slots); ++i) EXPECT_NE(slots[i], nullptr) << name << " slot " << i;
}

TEST_F(TablesTest, NoSlotIsNull) {
  expect_no_null(&api, "OrtApi");
  expect_no_null(api.GetModelEditorApi(), "OrtModelEditorApi");
  expect_no_null(api.GetCompileApi(), "OrtCompileApi");
  expect_no_null(api.GetInteropApi(), "OrtInteropApi");
  expect_no_null(api.GetEpApi(), "OrtEpApi");
  expect_no_null(api.GetModelPackageApi(), "OrtModelPackageApi");
}

TEST_F(TablesTest, Versions) {
  EXPECT_EQ(std::string(Library::get().base->GetVersionString()).substr(0, 5), "1.32.");
  EXPECT_NE(std::string(api.GetBuildInfoString()), "");
  if (!Library::get().ours) return;
  const auto own = reinterpret_cast<decltype(&RhGetVersionString)>(Library::get().function("RhGetVersionString"));
  ASSERT_NE(own, nullptr);
  EXPECT_NE(std::string(api.GetBuildInfoString()).find(own()), std::string::npos);
}

template <typename R, typename... Args>
R call_with_nulls(R(ORT_API_CALL* function)(Args...)) {
  return function(Args{}...);
}

void expect_stub(const char* name, OrtStatus* status) {
  const Ort::Status owned(status);
  EXPECT_EQ(owned.GetErrorCode(), ORT_NOT_IMPLEMENTED) << name;
  EXPECT_EQ(owned.GetErrorMessage(), "the function " + std::string(name) + " is not built");
}

template <typename Function>
void check_stub(const char* name, Function function) {
  if constexpr (std::is_same_v<decltype(call_with_nulls(function)), OrtStatus*>) {
    expect_stub(name, call_with_nulls(function));
  } else {
    call_with_nulls(function);  // whatever it answers, it is harmless
  }
}

/// Slots that do not look at their arguments, or take nulls for empty.
const std::set<std::string> kNullIsFine = {"EnableTelemetryEvents", "DisableTelemetryEvents", "SetLanguageProjection",
                                           "ReleaseAvailableProviders"};

template <typename Function>
void check_slot(const char* name, Function function) {
  if constexpr (std::is_same_v<decltype(call_with_nulls(function)), OrtStatus*>) {
    const Ort::Status status(call_with_nulls(function));
    EXPECT_EQ(static_cast<OrtStatus*>(status) == nullptr, kNullIsFine.contains(name)) << name;
  } else {
    call_with_nulls(function);
  }
}

// Another implementation may dereference nulls.
TEST_F(TablesTest, NullArgumentsAreErrorsAndStubsSayTheirName) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library takes null for a crash";
#define RH_SLOT(name) check_slot(#name, api.name);
#define RH_STUB(name) check_stub(#name, api.name);
#include "capi/api_slots.inc"
#undef RH_SLOT
#undef RH_STUB
#define RH_SLOT(name) check_slot(#name, api.GetModelEditorApi()->name);
#define RH_STUB(name) check_stub(#name, api.GetModelEditorApi()->name);
#include "capi/model_editor_slots.inc"
#undef RH_SLOT
#undef RH_STUB
}

}  // namespace
}  // namespace rh::test
