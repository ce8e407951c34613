// What check-provider checks: one function a check.
#include "provider_checks.h"

#include <exception>
#include <thread>

#include "model_options.h"

namespace rh::cli {

namespace {

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;

/// What the models of chain() and divided() are fed.
Feeds feed(unsigned seed = 0, const std::vector<int64_t>& shape = {2, 3, 4}) { return {{"x", sample(shape, 0.1f, 1, seed)}}; }
Contents x_of(unsigned seed = 0) { return feed(seed)[0].second; }

// --- operators

std::string first_refusal(const nlohmann::json& report) {
  for (const auto& node : report.at("nodes")) {
    for (const auto& refusal : node.at("refusals")) {
      const std::string reason = refusal.at("reason");
      return reason.empty() ? refusal.at("code").get<std::string>() : reason;
    }
  }
  return "no reason is given";
}

void run_operator(const OperatorCase& one, CheckedProvider& provider) {
  CheckedSession session = provider.session(one.model());
  expect_equal(session.run(one.feeds()), CheckedProvider::plain(one.model()).run(one.feeds()));
  if (provider.taken(session) == 0) throw Skip("not taken: " + first_refusal(session.report()));
}

// --- loading

void loads(CheckedProvider& provider) {
  for (const Ort::ConstEpDevice& device : provider.devices()) {
    if (!device.EpVendor() || !*device.EpVendor()) throw CheckFailure("a device has no vendor");
    if (!device.EpMetadata().GetValue("version")) throw CheckFailure("the provider gives no version");
  }
}

void loads_again(CheckedProvider& provider) {
  for (int i = 0; i < 5; ++i) provider.load_again();
  loads(provider);
}

void runs_a_model_without_its_nodes(CheckedProvider& provider) {
  const SmallModel model{{{"Cast", {"x"}, {"y"}, "cast", {{"to", int64_t{ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING}}}}},
                         {{"x", kFloat, std::vector<int64_t>{2}}},
                         {{"y", ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, std::nullopt}}};
  CheckedSession session = provider.session(model);
  const std::vector<NamedValue> inputs = tensors_of({{"x", sample({2})}});
  const std::vector<Ort::Value> results = Runner(session.session(), inputs).run();
  if (results[0].GetStringTensorElement(0).empty()) throw CheckFailure("a Cast to strings gave an empty one");
}

// --- copies

void divided_with_the_cpu(CheckedProvider& provider) {
  CheckedSession session = provider.session(provider.divided()), plain = CheckedProvider::plain(provider.divided());
  for (unsigned seed = 0; seed < 3; ++seed) expect_equal(session.run(feed(seed)), plain.run(feed(seed)));
}

void values_go_there_and_back(CheckedProvider& provider) {
  for (const auto type : {kFloat, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {0, 3}, {7}, {3, 5}, {256, 1025}}) {
      Contents contents = sample(shape, 1, 100);
      std::vector<char> bytes(contents.count() * element_bytes(type));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 63);
      contents.bytes = std::move(bytes);
      contents.type = type;
      expect_equal({provider.contents(provider.value(contents))}, {contents});
    }
  }
}

void values_are_copied_within_the_device(CheckedProvider& provider) {
  const Ort::Value first = provider.value(x_of(0));
  Ort::Value second = provider.value(x_of(1));
  provider.copy(first, second);
  expect_equal({provider.contents(second)}, {x_of(0)});
}

void constants_are_copied_when_the_model_is_loaded(CheckedProvider& provider) {
  for (const char* op : {"Add", "Mul", "MatMul"}) {
    const Contents weights = op == std::string("MatMul") ? sample({4, 4}) : sample({2, 3, 4}, 0.1f, 1, 3);
    const SmallModel model{
        {{op, {"x", "w"}, {"y"}, "node"}}, {{"x", kFloat, std::vector<int64_t>{2, 3, 4}}}, {{"y", kFloat, std::nullopt}}, {{"w", weights}}};
    CheckedSession session = provider.session(model);
    if (provider.taken(session) == 0) continue;
    provider.memory();
    for (int i = 0; i < 3; ++i) session.run(feed());
    const CheckedSession::Copies copies = session.copies();
    if (copies != CheckedSession::Copies{3, 0, 3}) throw CheckFailure("three runs made these copies: " + copies.text());
    return;
  }
  throw Skip("the provider takes no node with a constant input of the built-in cases");
}

// --- streams

struct Stream {
  explicit Stream(const OrtEpDevice* device) {
    OrtStatus* status = Ort::GetApi().CreateSyncStreamForEpDevice(device, nullptr, &stream);
    if (status && Ort::GetApi().GetErrorCode(status) == ORT_NOT_IMPLEMENTED) {
      const std::string reason = Ort::GetApi().GetErrorMessage(status);
      Ort::GetApi().ReleaseStatus(status);
      throw Skip(reason);
    }
    Ort::ThrowOnError(status);
  }
  ~Stream() { Ort::GetApi().ReleaseSyncStream(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  OrtSyncStream* stream = nullptr;
};

void copies_on_a_stream(CheckedProvider& provider) {
  provider.memory();
  const Stream stream(provider.devices().front());
  Ort::Value there = provider.value(sample({64, 64})), back = make_tensor(kFloat, {64, 64});
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Contents x = sample({64, 64}, 0, 1, seed);
    provider.copy(tensor_of(x), there, stream.stream);
    provider.copy(there, back, stream.stream);
    expect_equal({contents_of(back)}, {x}, "copy " + std::to_string(seed) + ": ");
  }
}

void runs_one_after_the_other(CheckedProvider& provider) {
  const std::vector<int64_t> shape = {128, 257};
  const SmallModel model = provider.chain(shape);
  CheckedSession session = provider.session(model), plain = CheckedProvider::plain(model);
  for (unsigned seed = 0; seed < 50; ++seed) {
    expect_equal(session.run(feed(seed, shape)), plain.run(feed(seed, shape)), "run " + std::to_string(seed) + ": ");
  }
}

void results_stay_when_the_session_runs_again(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  CheckedSession session = provider.session(model), plain = CheckedProvider::plain(model);
  std::vector<std::vector<Ort::Value>> kept;
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::vector<NamedValue> inputs = tensors_of(feed(seed));
    kept.push_back(Runner(session.session(), inputs).run());
  }
  for (unsigned seed = 0; seed < 5; ++seed) {
    expect_equal({contents_of(kept[seed][0])}, plain.run(feed(seed)), "run " + std::to_string(seed) + ": ");
  }
}

// --- binding

void bound_on_the_device_without_copies(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  CheckedSession session = provider.session(model), plain = CheckedProvider::plain(model);
  Ort::Value x = provider.value(x_of()), y = provider.value(x_of());
  Ort::IoBinding binding(session.session());
  binding.BindInput("x", x);
  binding.BindOutput("y", y);
  for (unsigned seed = 0; seed < 3; ++seed) {
    provider.copy(tensor_of(x_of(seed)), x);
    binding.SynchronizeInputs();
    session.run(binding);
    binding.SynchronizeOutputs();
    expect_equal({provider.contents(y)}, plain.run(feed(seed)));
  }
  if (binding.GetOutputValues()[0].GetTensorRawData() != y.GetTensorRawData()) throw CheckFailure("the output is not where it was bound");
  const CheckedSession::Copies copies = session.copies();
  if (copies != CheckedSession::Copies{0, 0, 0}) throw CheckFailure("values bound on the device were copied: " + copies.text());
}

void outputs_allocated_on_the_device(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  std::vector<Ort::Value> results;
  {
    CheckedSession session = provider.session(model);
    const Ort::Value x = tensor_of(x_of());
    Ort::IoBinding binding(session.session());
    binding.BindInput("x", x);
    binding.BindOutput("y", provider.memory());
    session.run(binding);
    binding.SynchronizeOutputs();
    results = binding.GetOutputValues();
  }
  expect_equal({provider.contents(results.at(0))}, CheckedProvider::plain(model).run(feed()), "after the session is gone: ");
}

void bound_on_the_host(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  CheckedSession session = provider.session(model);
  const Ort::Value x = tensor_of(x_of());
  Ort::Value y = make_tensor(kFloat, {2, 3, 4});
  Ort::IoBinding binding(session.session());
  binding.BindInput("x", x);
  binding.BindOutput("y", y);
  session.run(binding);
  binding.SynchronizeOutputs();
  expect_equal({contents_of(y)}, CheckedProvider::plain(model).run(feed()));
}

// --- faults

void inputs_that_do_not_fit(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  CheckedSession session = provider.session(model);
  expect_error([&] { session.run(feed(0, {2, 3, 5})); }, "an input of another shape");
  Contents bytes = x_of();
  bytes.type = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
  expect_error([&] { session.run({{"x", bytes}}); }, "an input of another type");
  expect_equal(session.run(feed()), CheckedProvider::plain(model).run(feed()), "after errors: ");
}

void more_memory_than_there_is(CheckedProvider& provider) {
  provider.memory();
  const Contents huge{kFloat, {int64_t{1} << 48}, {}};
  expect_error([&] { provider.value(huge); }, "an allocation of 2^50 bytes");
  expect_equal({provider.contents(provider.value(x_of()))}, {x_of()});
}

void runs_that_are_stopped(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  CheckedSession session = provider.session(model);
  Ort::RunOptions options;
  options.SetTerminate();
  expect_error([&] { session.run(feed(), options); }, "a run whose terminate flag is set");
  expect_equal(session.run(feed()), CheckedProvider::plain(model).run(feed()), "after a stopped run: ");
}

void options_that_it_does_not_know(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  std::optional<CheckedSession> session;
  try {
    session = provider.session(model, {{"no_such_option_of_any_provider", "1"}});
  } catch (const Ort::Exception&) {
    return;  // refused with an error: as good as taken
  }
  expect_equal(session->run(feed()), CheckedProvider::plain(model).run(feed()));
}

// --- life

void sessions_made_and_dropped_100_times(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  const std::vector<Contents> expected = CheckedProvider::plain(model).run(feed());
  for (int i = 0; i < 100; ++i) {
    CheckedSession session = provider.session(model);
    if (i % 10 == 0) expect_equal(session.run(feed()), expected, "session " + std::to_string(i) + ": ");
  }
}

void several_sessions_at_once(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  CheckedSession plain = CheckedProvider::plain(model);
  std::vector<CheckedSession> sessions;
  for (int i = 0; i < 8; ++i) sessions.push_back(provider.session(model));
  for (unsigned i = 0; i < 24; ++i) {
    expect_equal(sessions[i % 8].run(feed(i % 8)), plain.run(feed(i % 8)), "session " + std::to_string(i % 8) + ": ");
  }
  sessions.erase(sessions.begin(), sessions.begin() + 4);
  expect_equal(sessions[0].run(feed(1)), plain.run(feed(1)), "after others are gone: ");
}

// --- concurrency

void in_four_threads(const std::function<void(unsigned)>& work) {
  std::vector<std::exception_ptr> problems(4);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < problems.size(); ++i) {
    threads.emplace_back([&work, &problem = problems[i], i] {
      try {
        work(i);
      } catch (...) {
        problem = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
}

void one_session_in_four_threads(CheckedProvider& provider) {
  const SmallModel model = provider.divided();
  CheckedSession session = provider.session(model), plain = CheckedProvider::plain(model);
  in_four_threads([&](unsigned thread) {
    const std::vector<Contents> expected = plain.run(feed(thread));
    for (int i = 0; i < 25; ++i) expect_equal(session.run(feed(thread)), expected, "thread " + std::to_string(thread) + ": ");
  });
}

void sessions_made_in_four_threads(CheckedProvider& provider) {
  const SmallModel model = provider.chain();
  const std::vector<Contents> expected = CheckedProvider::plain(model).run(feed());
  in_four_threads([&](unsigned thread) {
    for (int i = 0; i < 5; ++i) expect_equal(provider.session(model).run(feed()), expected, "thread " + std::to_string(thread) + ": ");
  });
}

struct Row {
  const char* group;
  const char* name;
  void (*run)(CheckedProvider&);
};

#define RH_CHECK(group, function) \
  Row { group, #function, function }
constexpr Row kBefore[] = {
    RH_CHECK("load", loads),
    RH_CHECK("load", loads_again),
    RH_CHECK("load", runs_a_model_without_its_nodes),
};
constexpr Row kAfter[] = {
    RH_CHECK("copies", divided_with_the_cpu),
    RH_CHECK("copies", values_go_there_and_back),
    RH_CHECK("copies", values_are_copied_within_the_device),
    RH_CHECK("copies", constants_are_copied_when_the_model_is_loaded),
    RH_CHECK("streams", copies_on_a_stream),
    RH_CHECK("streams", runs_one_after_the_other),
    RH_CHECK("streams", results_stay_when_the_session_runs_again),
    RH_CHECK("binding", bound_on_the_device_without_copies),
    RH_CHECK("binding", outputs_allocated_on_the_device),
    RH_CHECK("binding", bound_on_the_host),
    RH_CHECK("faults", inputs_that_do_not_fit),
    RH_CHECK("faults", more_memory_than_there_is),
    RH_CHECK("faults", runs_that_are_stopped),
    RH_CHECK("faults", options_that_it_does_not_know),
    RH_CHECK("life", sessions_made_and_dropped_100_times),
    RH_CHECK("life", several_sessions_at_once),
    RH_CHECK("concurrency", one_session_in_four_threads),
    RH_CHECK("concurrency", sessions_made_in_four_threads),
};
#undef RH_CHECK

}  // namespace

const std::vector<ProviderCheck>& provider_checks() {
  static const std::vector<ProviderCheck> all = [] {
    std::vector<ProviderCheck> checks;
    const auto add = [&](const Row& row) { checks.push_back({std::string(row.group) + "/" + row.name, row.run}); };
    for (const Row& row : kBefore) add(row);
    for (const OperatorCase& one : operator_cases()) {
      checks.push_back({one.name(), [&one](CheckedProvider& provider) { run_operator(one, provider); }});
    }
    for (const Row& row : kAfter) add(row);
    return checks;
  }();
  return all;
}

}  // namespace rh::cli
