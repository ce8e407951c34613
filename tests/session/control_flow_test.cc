#include "session/run_helpers.h"

#include <thread>

namespace rh::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

Value boolean(bool value) { return Tensor::scalar<bool>(value); }
Value trips(int64_t value) { return Tensor::scalar<int64_t>(value); }

constexpr char kIf[] = R"(<opset_import: ["" : 17]>
main (bool[] which, float[n] x) => (float[n] y)
< float[1] one = {1} >
{
  a = Relu (x)
  b = If (which) <
    then_branch = yes () => (float[n] r) { r = Add (a, one) },
    else_branch = no () => (float[n] s) { s = Neg (a) }
  >
  y = Mul (b, a)
})";

TEST(ControlFlow, IfTakesValuesOfTheEnclosingGraph) {
  auto session = make_session(kIf);
  const Value x = floats({3}, {-1, 2, 3});
  EXPECT_EQ(elements(run(*session, {{"which", boolean(true)}, {"x", x}}, {"y"})[0]), (Floats{0, 6, 12}));
  EXPECT_EQ(elements(run(*session, {{"which", boolean(false)}, {"x", x}}, {"y"})[0]), (Floats{0, -4, -9}));
}

constexpr char kLoop[] = R"(<opset_import: ["" : 17]>
main (int64[] trips, float[n] x) => (float[n] last, float[...] all)
< float[1] half = {0.5}, bool[] go = {1} >
{
  start = Relu (x)
  last, all = Loop (trips, go, start) <
    body = step (int64[] i, bool[] c, float[n] v) => (bool[] c2, float[n] v2, float[n] v3) {
      c2 = Identity (c)
      w = Add (v, half)
      v2 = Add (w, start)
      v3 = Mul (w, w)
    }
  >
})";

TEST(ControlFlow, LoopCarriesAndCollects) {
  auto session = make_session(kLoop);
  const Value x = floats({2}, {1, -4});
  for (int64_t count : {0, 1, 4, 2}) {
    const auto results = run(*session, {{"trips", trips(count)}, {"x", x}}, {"last", "all"});
    Floats v{1, 0}, all;
    for (int64_t i = 0; i < count; ++i) {
      for (float& e : v) e += 0.5f;
      for (float e : v) all.push_back(e * e);
      v[0] += 1;
    }
    EXPECT_EQ(elements(results[0]), v) << count;
    EXPECT_EQ(elements(results[1]), all) << count;
  }
}

TEST(ControlFlow, ALoopInItsSteadyStateKeepsItsMemory) {
  auto session = make_session(kLoop);
  const Value x = floats({2}, {1, -4});
  run(*session, {{"trips", trips(3)}, {"x", x}}, {"last"});
  const SessionStatistics before = session->statistics();
  run(*session, {{"trips", trips(50)}, {"x", x}}, {"last"});
  EXPECT_EQ(session->statistics().late_allocations, before.late_allocations);
  EXPECT_EQ(session->statistics().plan_bindings, before.plan_bindings);
}

// Memory of earlier iterations serves later ones: values that change places, stand twice, stay, or grow must not be written over.
TEST(ControlFlow, MemoryThatIterationsUseAgainHoldsNothingThatIsStillNeeded) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (int64[] trips, float[n] x) => (float[...] a, float[...] b, float[...] kept, float[...] grown, float[...] all, float[...] again)
< bool[] go = {1} >
{
  a, b, kept, grown, all, again = Loop (trips, go, x, x, x, x) <
    body = step (int64[] i, bool[] c, float[n] p, float[n] q, float[n] k, float[m] g) =>
        (bool[] c2, float[n] p2, float[n] q2, float[n] k2, float[m2] g2, float[n] s, float[n] s2)
    {
      c2 = Identity (c)
      p2 = Identity (q)
      q2 = Add (p, q)
      k2 = Identity (k)
      g2 = Concat <axis = 0> (g, q)
      s = Sub (q2, p)
      s2 = Identity (q2)
    }
  >
})");
  const Floats start{1, 3};
  for (const int64_t count : {1, 2, 3, 4, 12}) {
    const auto results = run(*session, {{"trips", trips(count)}, {"x", floats({2}, start)}}, {"a", "b", "kept", "grown", "all", "again"});
    Floats p = start, q = start, grown = start, all, again;
    for (int64_t i = 0; i < count; ++i) {
      const Floats sum{p[0] + q[0], p[1] + q[1]};
      grown.insert(grown.end(), q.begin(), q.end());
      all.insert(all.end(), q.begin(), q.end());  // sum - p
      again.insert(again.end(), sum.begin(), sum.end());
      p = std::exchange(q, sum);
    }
    EXPECT_EQ(elements(results[0]), p) << count;
    EXPECT_EQ(elements(results[1]), q) << count;
    EXPECT_EQ(elements(results[2]), start) << count;
    EXPECT_EQ(elements(results[3]), grown) << count;
    EXPECT_EQ(elements(results[4]), all) << count;
    EXPECT_EQ(elements(results[5]), again) << count;
  }
}

TEST(ControlFlow, SubgraphsInsideSubgraphsSeeAllAround) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (int64[] trips, bool[] which, float[n] x) => (float[n] y)
< bool[] go = {1} >
{
  base = Neg (x)
  y = Loop (trips, go, x) <
    body = step (int64[] i, bool[] c, float[n] v) => (bool[] c2, float[n] v2) {
      c2 = Identity (c)
      t = Add (v, base)
      v2 = If (which) <
        then_branch = yes () => (float[n] r) { r = Add (t, x) },
        else_branch = no () => (float[n] s) { s = Sub (base, t) }
      >
    }
  >
})");
  const Value x = floats({2}, {1, 2});
  // then: v + base + x = v. else: base - v - base = -v.
  EXPECT_EQ(elements(run(*session, {{"trips", trips(3)}, {"which", boolean(true)}, {"x", x}}, {"y"})[0]), (Floats{1, 2}));
  EXPECT_EQ(elements(run(*session, {{"trips", trips(3)}, {"which", boolean(false)}, {"x", x}}, {"y"})[0]), (Floats{-1, -2}));
}

TEST(ControlFlow, ScanSums) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[2] start, float[k, 2] xs) => (float[2] sum, float[k, 2] sums)
{
  sum, sums = Scan <num_scan_inputs = 1,
    body = step (float[2] s, float[2] x) => (float[2] s2, float[2] out) {
      s2 = Add (s, x)
      out = Identity (s2)
    }
  > (start, xs)
})");
  const auto results = run(*session, {{"start", floats({2}, {0, 10})}, {"xs", floats({3, 2}, {1, 2, 3, 4, 5, 6})}}, {"sum", "sums"});
  EXPECT_EQ(elements(results[0]), (Floats{9, 22}));
  EXPECT_EQ(elements(results[1]), (Floats{1, 12, 4, 16, 9, 22}));
}

/// A session of a model whose input `s` is a sequence of anything: what is taken from it has a type only when the model runs.
std::unique_ptr<Session> make_untyped_session(const std::string& nodes, const char* outputs = "float[...] y") {
  Model model =
      parse_model("<opset_import: [\"\" : 17]>\nmain (float[] s, float[n] x) => (" + std::string(outputs) +
                  ")\n< int64[] first = {0}, int64[] three = {3}, bool[] go = {1} >\n{\n a = SequenceAt (s, first)\n" + nodes + "}");
  model.graph->set_type(model.graph->find_value("s"), ValueType::sequence_of({}));
  return Session::create(std::move(model));
}

Value sequence_of(Tensor tensor) {
  Sequence sequence;
  sequence.element_dtype = tensor.dtype();
  sequence.elements.push_back(std::move(tensor));
  return sequence;
}

struct LateTypeRow {
  const char* purpose;
  const char* nodes;
  const char* expected;  ///< in the message where the sequence holds int64; it runs where the sequence holds floats
};

TEST(ControlFlow, TypesThatOnlyARunTellsAreHeldAgainstWhatIsKnown) {
  static constexpr LateTypeRow kRows[] = {
      {"inputs of one node", " y = Add (a, x)\n", "inputs 0 and 1 are tensor(int64) and tensor(float), expected the same type"},
      {"an output with a type", " y = Add (a, a)\n", "output 0 'y' is of int64, but the model says float"},
      {"a view with a type", " y = Identity (a)\n", "output 0 'y' is of int64, but the model says float"},
      {"a value that a loop carries",
       " y = Loop (three, go, a) < body = step (int64[] i, bool[] c, float[n] v) => (bool[] c2, float[n] v2)\n"
       "  { c2 = Identity (c) v2 = Add (v, v) } >\n",
       "tensor(int64)"},
      {"a captured value",
       " y = If (go) < then_branch = yes () => (float[n] r) { r = Mul (a, x) }, else_branch = no () => (float[n] q) { q = Neg (x) } >\n",
       "expected the same type"},
  };
  const Value floats_in = sequence_of(floats({2}, {1, 2})), ints_in = sequence_of(Tensor::ints(std::vector<int64_t>{1, 2}));
  const Value x = floats({2}, {3, 4});
  for (const LateTypeRow& row : kRows) {
    SCOPED_TRACE(row.purpose);
    auto session = make_untyped_session(row.nodes);
    for (int round = 0; round < 2; ++round) {
      const Status good = try_run(*session, {{"s", floats_in}, {"x", x}}, {"y"});
      EXPECT_TRUE(good.ok()) << good.message();
      const Status bad = try_run(*session, {{"s", ints_in}, {"x", x}}, {"y"});
      ASSERT_FALSE(bad.ok());
      EXPECT_NE(bad.message().find(row.expected), std::string_view::npos) << bad.message();
    }
  }
}

TEST(ControlFlow, NodesRunOnTypesThatOnlyARunTells) {
  auto session = make_untyped_session(" b = Add (a, a)\n c = Neg (b)\n y = Cast <to = 1> (c)\n");
  const Value x = floats({1}, {0});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(elements(run(*session, {{"s", sequence_of(floats({2}, {1, 2}))}, {"x", x}}, {"y"})[0]), (Floats{-2, -4}));
    EXPECT_EQ(elements(run(*session, {{"s", sequence_of(Tensor::ints(std::vector<int64_t>{3, 4}))}, {"x", x}}, {"y"})[0]),
              (Floats{-6, -8}));
  }
}

TEST(ControlFlow, ThreadsShareOneSession) {
  auto session = make_session(kLoop);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 10; ++i) {
        const Value count = trips(i), x = filled({t + 1}, 1);
        const char* in[] = {"trips", "x"};
        const char* out = "last";
        const Value* values[] = {&count, &x};
        Value result;
        const Status status = session->run({}, in, values, {&out, 1}, {&result, 1});
        if (!status.ok() || result.tensor().data<float>()[t] != 1 + 1.5f * static_cast<float>(i)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace rh::test
