// What the record of each node's placement costs of session creation: sessions of each model are made with it and without it in turns,
// in processor time.
// placement_record_bench ROUNDS MODEL... prints, for each model, the medians and their ratio.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "session/session.h"

namespace {

// Of the process: what else the machine does counts little.
double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double create_ms(const std::string& model, bool record) {
  rh::SessionOptions options;
  options.record_placement = record;
  options.intra_op_threads = 1;
  const double begin = processor_ms();
  const auto session = rh::Session::create(model, options);
  return processor_ms() - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[1]) : 0;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: placement_record_bench ROUNDS MODEL...\n");
    return 2;
  }
  std::printf("| model | with ms | without ms | least with / without | median of ratios |\n| --- | --- | --- | --- | --- |\n");
  for (int m = 2; m < argc; ++m) {
    std::vector<double> with, without, ratios;
    create_ms(argv[m], true);
    for (int i = 0; i < rounds; ++i) {
      const bool first = i % 2 == 0;
      const double a = create_ms(argv[m], first), b = create_ms(argv[m], !first);
      with.push_back(first ? a : b);
      without.push_back(first ? b : a);
      ratios.push_back(with.back() / without.back());
    }
    const double least = *std::min_element(with.begin(), with.end()) / *std::min_element(without.begin(), without.end());
    const std::string path = argv[m];
    std::printf("| %s | %.2f | %.2f | %.4f | %.4f |\n", path.substr(path.rfind('/') + 1).c_str(), median(with), median(without), least,
                median(ratios));
    std::fflush(stdout);
  }
}
