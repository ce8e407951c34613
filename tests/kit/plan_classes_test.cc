// Plan classes and leases, against their plain definition.
#include "providers/kit/shapes/plan_classes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

#include "base/error.h"
#include "graph/text_parse.h"
#include "ops/inference.h"
#include "providers/kit/graph/root_types.h"
#include "providers/kit/regions/leases.h"
#include "providers/kit/shapes/padding.h"

namespace rh {

namespace {

using kit::PlanClass, kit::PlanSizes;

/// The ends of buckets as a list: 0, 1, 16, 32, 64, 128, then eighths of each power of two.
std::vector<int64_t> plain_ends(int64_t most) {
  std::vector<int64_t> ends = {0, 1, 16, 32, 64, 128};
  for (int64_t power = 128; ends.back() < most; power *= 2) {
    for (int step = 1; step <= 8; ++step) ends.push_back(power + step * power / 8);
  }
  return ends;
}

TEST(KitBuckets, AreThePlainList) {
  const std::vector<int64_t> ends = plain_ends(100'000);
  for (int64_t size = 0; size <= 100'000; ++size) ASSERT_EQ(kit::bucket_end(size), *std::ranges::lower_bound(ends, size)) << size;
  for (int64_t size : {int64_t{1} << 40, (int64_t{1} << 40) + 1, (int64_t{1} << 61) - 3}) {
    EXPECT_GE(kit::bucket_end(size), size);
    EXPECT_LE(kit::bucket_end(size), size + size / 8 + 1);
  }
}

TEST(KitBuckets, AreFewForStepsOfADecoder) {
  for (int64_t first = 0; first < 5000; ++first) {
    for (const auto& [steps, most] : {std::pair{64, 8u}, std::pair{200, 20u}}) {
      std::set<int64_t> ends;
      for (int64_t i = 0; i < steps; ++i) ends.insert(kit::bucket_end(first + i));
      ASSERT_LE(ends.size(), most) << steps << " steps from " << first;
    }
  }
}

const Dim kPast = Dim::symbol("past"), kBatch = Dim::symbol("batch"), kSequence = Dim::symbol("seq");

PlanSizes::Found find(const PlanSizes& sizes, const std::vector<Shape>& shapes) {
  std::vector<TensorView> views;
  for (const Shape& shape : shapes) views.emplace_back(DType::float32, shape, nullptr);
  return sizes.find(views);
}

TEST(KitPlanSizes, CountPastAndPastPlusOneAsOne) {
  const PlanSizes sizes({SymbolicShape{kBatch, kPast + Dim(1)}, SymbolicShape{kBatch, kPast, Dim(8)}});
  EXPECT_EQ(sizes.symbols(), 2u);
  const PlanSizes::Found found = find(sizes, {{1, 18}, {1, 17, 8}});
  EXPECT_FALSE(found.plan.is_exact);
  EXPECT_EQ(found.sizes, (std::vector<int64_t>{1, 17}));
  EXPECT_EQ(found.plan.sizes, (std::vector<int64_t>{1, 32}));
  EXPECT_EQ(sizes.shape(*sizes.inputs()[0], found.plan.sizes), (Shape{1, 33}));
  EXPECT_EQ(sizes.shape(*sizes.inputs()[1], found.plan.sizes), (Shape{1, 32, 8}));
  std::set<PlanClass> classes;
  for (int64_t past = 0; past < 64; ++past) classes.insert(find(sizes, {{1, past + 1}, {1, past, 8}}).plan);
  EXPECT_EQ(classes.size(), 5u);  // 0, 1, 16, 32, 64
}

TEST(KitPlanSizes, CountASizeThatStaysOneMoreAsOne) {
  const Dim total = Dim::symbol("total_length");
  for (const bool mask_first : {false, true}) {
    const PlanSizes sizes(mask_first ? PlanSizes::Dims{SymbolicShape{kBatch, total}, SymbolicShape{kBatch, kPast, Dim(8)}}
                                     : PlanSizes::Dims{SymbolicShape{kBatch, kPast, Dim(8)}, SymbolicShape{kBatch, total}});
    for (const auto& [first, steps, most] : {std::tuple{0, 64, 8u}, {120, 64, 8u}, {127, 200, 20u}, {1000, 200, 20u}}) {
      std::set<PlanClass> classes;
      for (int64_t past = first; past < first + steps; ++past) {
        const Shape mask{2, past + 1}, cache{2, past, 8};
        const PlanSizes::Found found = mask_first ? find(sizes, {mask, cache}) : find(sizes, {cache, mask});
        for (size_t i = 0; i < found.sizes.size(); ++i) EXPECT_GE(found.plan.sizes[i], found.sizes[i]);
        classes.insert(found.plan);
      }
      EXPECT_LE(classes.size(), most) << steps << " steps from " << first;
    }
  }
}

TEST(KitPlanSizes, ReadsASymbolThatStandsWithANumberAlone) {
  const PlanSizes sizes({SymbolicShape{kPast + Dim(1)}, SymbolicShape{kPast + kSequence}, SymbolicShape{kSequence * Dim(2)}});
  EXPECT_EQ(sizes.symbols(), 1u);  // seq has no size of its own: its expressions are exact
  EXPECT_TRUE(find(sizes, {{5}, {7}, {6}}).plan.is_exact);
}

TEST(KitPlanSizes, SpecialiseWhatIsFixed) {
  const PlanSizes sizes({SymbolicShape{kBatch, kSequence}}, {"seq"});
  EXPECT_EQ(find(sizes, {{3, 5}}).plan.sizes, (std::vector<int64_t>{16, 5}));
  EXPECT_NE(find(sizes, {{3, 5}}).plan, find(sizes, {{3, 6}}).plan);
  EXPECT_EQ(find(sizes, {{3, 5}}).plan, find(sizes, {{16, 5}}).plan);
}

TEST(KitPlanSizes, GiveASequenceOfOneAClass) {
  const PlanSizes sizes({SymbolicShape{kBatch, kSequence}});
  EXPECT_NE(find(sizes, {{4, 1}}).plan, find(sizes, {{4, 2}}).plan);
  EXPECT_EQ(find(sizes, {{4, 16}}).plan, find(sizes, {{4, 2}}).plan);
}

TEST(KitPlanSizes, TakeWhatContradictsTheSymbolsAsItIs) {
  const PlanSizes sizes({SymbolicShape{kBatch, Dim(4)}, SymbolicShape{kBatch, Dim()}, std::nullopt});
  EXPECT_TRUE(find(sizes, {{3, 4}, {3, 9}, {}}).plan.is_exact);  // an input of unknown rank
  const PlanSizes known({SymbolicShape{kBatch, Dim(4)}, SymbolicShape{kBatch, Dim()}});
  EXPECT_FALSE(find(known, {{3, 4}, {3, 9}}).plan.is_exact);
  const PlanClass contradiction = find(known, {{3, 4}, {2, 9}}).plan;
  EXPECT_TRUE(contradiction.is_exact);
  EXPECT_EQ(contradiction.sizes, (std::vector<int64_t>{2, 3, 4, 2, 2, 9}));
  EXPECT_NE(contradiction, find(known, {{3, 4}, {2, 8}}).plan);
  EXPECT_TRUE(find(known, {{3, 5}, {3, 9}}).plan.is_exact);
  EXPECT_TRUE(find(known, {{3}, {3, 9}}).plan.is_exact);
}

/// Random inputs over three symbols: the class says of each size what the list of buckets says of its symbol, or stays one apart.
TEST(KitPlanSizes, AreTheBucketsOfAllSymbols) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Dim all[] = {kPast, kBatch, kSequence};
    PlanSizes::Dims dims;
    std::vector<std::vector<int>> which;
    for (int i = 0; i < 3; ++i) {
      SymbolicShape shape;
      which.emplace_back();
      for (int axis = 0; axis < 3; ++axis) {
        const int symbol = axis == 0 ? i : static_cast<int>(random() % 3);
        which.back().push_back(symbol);
        shape.push_back(axis == 0 ? all[symbol] : all[symbol] + Dim(static_cast<int64_t>(random() % 3)));
      }
      dims.emplace_back(std::move(shape));
    }
    const PlanSizes sizes(dims);
    EXPECT_EQ(sizes.symbols(), 3u);
    std::map<std::vector<int64_t>, PlanClass> classes;
    for (int run = 0; run < 50; ++run) {
      const int64_t values[] = {static_cast<int64_t>(random() % 300), static_cast<int64_t>(random() % 3),
                                static_cast<int64_t>(random() % 40)};
      std::vector<int64_t> ends;
      for (int64_t value : values) ends.push_back(kit::bucket_end(value));
      if (std::abs(values[2] - values[0]) == 1 && std::min(values[0], values[2]) >= 16) ends[2] = ends[0] + values[2] - values[0];
      std::vector<Shape> shapes;
      for (const auto& dim : dims) {
        std::vector<int64_t> numbers;
        for (const Dim& one : *dim) {
          numbers.push_back(*one.evaluate([&](std::string_view name) {
            return std::optional(values[name == "past" ? 0 : name == "batch" ? 1 : 2]);
          }));
        }
        shapes.emplace_back(numbers.data(), numbers.data() + numbers.size());
      }
      const PlanClass plan = find(sizes, shapes).plan;
      ASSERT_FALSE(plan.is_exact);
      const auto [known, is_new] = classes.emplace(ends, plan);
      ASSERT_EQ(known->second, plan);
    }
    std::set<PlanClass> distinct;
    for (const auto& [ends, plan] : classes) distinct.insert(plan);
    EXPECT_EQ(distinct.size(), classes.size());
  }
}

struct SizedPlan final : kit::Plan {
  explicit SizedPlan(size_t size) : size(size) {}
  size_t bytes() const override { return size; }
  size_t size;
};

PlanClass plan_class(int64_t number) { return {false, {number}}; }

TEST(KitPlanCache, LetsGoWhatWasNotUsedForLongest) {
  std::vector<int64_t> made;
  kit::PlanCache cache(100, [&](const PlanClass& plan) {
    made.push_back(plan.sizes[0]);
    return std::make_shared<SizedPlan>(40);
  });
  const std::shared_ptr<const kit::Plan> first = cache.get(plan_class(1));
  cache.get(plan_class(2));
  EXPECT_EQ(cache.get(plan_class(1)), first);
  cache.get(plan_class(3));  // 2 goes
  EXPECT_EQ(cache.bytes(), 80u);
  EXPECT_EQ(cache.get(plan_class(1)), first);
  cache.get(plan_class(2));
  EXPECT_EQ(made, (std::vector<int64_t>{1, 2, 3, 2}));
  EXPECT_EQ(cache.compiled(), 4u);
}

TEST(KitPlanCache, TriesAnewWhatFailed) {
  int tries = 0;
  kit::PlanCache cache(100, [&](const PlanClass&) -> std::shared_ptr<const kit::Plan> {
    if (++tries == 1) fail(ErrorCode::ep_fail, "no room");
    return std::make_shared<SizedPlan>(1000);
  });
  EXPECT_THROW(cache.get(plan_class(1)), Error);
  EXPECT_NE(cache.get(plan_class(1)), nullptr);
  EXPECT_NE(cache.get(plan_class(1)), nullptr);  // larger than the bound, and kept while it is the only one
  EXPECT_EQ(tries, 2);
}

TEST(KitPlanCache, CompilesAClassOnceForAllThreads) {
  std::atomic<int> made = 0;
  kit::PlanCache cache(1000, [&](const PlanClass&) {
    ++made;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return std::make_shared<SizedPlan>(1);
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) cache.get(plan_class(i % 5));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 5);
}

TEST(KitLeases, AreAtMostSoManyAndOneRunsAlone) {
  struct Block {
    std::atomic<int> users = 0;
  };
  std::atomic<int> made = 0, shared = 0;
  kit::LeasePool<Block> pool(3, [&] {
    ++made;
    return std::make_unique<Block>();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto lease = pool.take();
        shared += lease->users++ > 0;
        std::this_thread::yield();
        --lease->users;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(made, 3);
  EXPECT_EQ(shared, 0);
}

TEST(KitLeases, AreMadeAnewWhereTheyBrokeOrFailed) {
  int made = 0;
  kit::LeasePool<int> pool(1, [&] {
    if (++made == 2) fail(ErrorCode::ep_fail, "no room");
    return std::make_unique<int>(made);
  });
  {
    auto lease = pool.take();
    EXPECT_EQ(*lease, 1);
  }
  {
    auto lease = pool.take();
    EXPECT_EQ(*lease, 1);
    lease.set_broken();
  }
  EXPECT_THROW(pool.take(), Error);
  EXPECT_EQ(*pool.take(), 3);
  EXPECT_EQ(pool.made(), 1u);
}

TEST(KitPadding, CopiesWhatIsCommon) {
  const Shape shapes[] = {{}, {3}, {2, 3, 4}, {5, 3, 2}, {1, 4, 4}, {2, 0, 4}};
  for (const Shape& from_shape : shapes) {
    for (const Shape& to_shape : shapes) {
      if (from_shape.rank() != to_shape.rank()) continue;
      Tensor from(DType::int32, from_shape), to(DType::int32, to_shape);
      std::iota(from.data<int32_t>(), from.data<int32_t>() + from.elements(), 1);
      std::fill_n(to.data<int32_t>(), to.elements(), 0);
      kit::copy_common(from.view(), MutableView(DType::int32, to.shape(), to.data<int32_t>()));
      for (int64_t i = 0; i < to.elements(); ++i) {
        int64_t left = i, at = 0, stride = 1;
        bool is_common = true;
        for (int axis = to_shape.rank() - 1; axis >= 0; --axis) {
          const int64_t place = left % to_shape[axis];
          left /= to_shape[axis];
          is_common = is_common && place < from_shape[axis];
          at += place * stride;
          stride *= from_shape[axis];
        }
        ASSERT_EQ(to.data<int32_t>()[i], is_common ? at + 1 : 0) << from_shape.to_string() << to_shape.to_string() << i;
      }
    }
  }
}

TEST(KitRootTypes, GiveAUnitTheRelationsOfItsRoot) {
  const auto root = parse_graph(R"(<ir_version: 8, opset_import: ["" : 17]>
    main (float[past, 4] cache, float[1, 4] fresh) => (float[...] y)
    { present = Concat <axis = 0> (cache, fresh)
      y = Mul (present, present) })");
  infer_types(*root);
  const auto unit = parse_graph(R"(<ir_version: 8, opset_import: ["" : 17]>
    unit (float[lost, 4] present) => (float[lost, 4] y) { y = Mul (present, present) })");
  kit::RootTypes types;
  types.remember(*root, std::vector<NodeId>{root->topological_order().back()});
  types.restore(*unit);
  EXPECT_EQ(unit->value(unit->inputs()[0]).type.to_string(), "tensor(float)[past + 1, 4]");
  EXPECT_EQ(unit->value(unit->outputs()[0]).type.to_string(), "tensor(float)[past + 1, 4]");
}

}  // namespace

}  // namespace rh
