#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/affinity.h"
#include "base/error.h"
#include "base/system_files.h"
#include "base/thread_pool.h"

namespace rh {
namespace {

struct Mount {
  std::string root;  // the group that is seen at `point`
  std::string point;
  bool v2 = false;
};

bool lists(std::string_view comma_separated, std::string_view word) {
  while (!comma_separated.empty()) {
    if (take_part(comma_separated, ',') == word) return true;
  }
  return false;
}

/// Mounts of the cgroup2 hierarchy and of the version 1 `cpu` controller: "id parent dev ROOT POINT options ... - TYPE source SUPER".
std::vector<Mount> cgroup_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  const std::string text = read_system_file(root + "/proc/self/mountinfo");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_part(rest, '\n');
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view before = line.substr(0, dash), after = line.substr(dash + 3);
    for (int i = 0; i < 3; ++i) take_word(before);  // numbers of the mount, its parent and its device
    Mount mount;
    mount.root = take_word(before);
    mount.point = take_word(before);
    const std::string_view type = take_word(after);
    take_word(after);  // the source
    const std::string_view super = take_word(after);
    mount.v2 = type == "cgroup2";
    if (mount.v2 || (type == "cgroup" && lists(super, "cpu"))) mounts.push_back(mount);
  }
  return mounts;
}

/// The number of a word; nothing where it is none.
std::optional<double> number_of(std::string_view word) {
  const std::string text(word);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? std::nullopt : std::optional(number);
}

/// The quota of one group's folder in processors, 0 for none.
double quota_of(const std::string& folder, bool v2) {
  double quota = -1, period = 0;
  if (v2) {
    const std::string text = read_system_file(folder + "/cpu.max");
    std::string_view rest = text;
    quota = number_of(take_word(rest)).value_or(0);  // "max" is none
    period = number_of(take_word(rest)).value_or(0);
  } else {
    quota = number_of(read_system_file(folder + "/cpu.cfs_quota_us")).value_or(-1);
    period = number_of(read_system_file(folder + "/cpu.cfs_period_us")).value_or(0);
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// The least quota from `group`, a path below the mount, up to the mount point.
double least_quota(const std::string& point, std::string group, bool v2) {
  double least = 0;
  while (true) {
    const double quota = quota_of(point + group, v2);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

/// `group` as seen below a mount whose root is `mount_root`.
std::string below(const std::string& group, const std::string& mount_root) {
  std::string path = group;
  if (mount_root != "/" && path.compare(0, mount_root.size(), mount_root) == 0) path.erase(0, mount_root.size());
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

double cgroup_cpu_quota(const std::string& root) {
  const std::vector<Mount> mounts = cgroup_mounts(root);
  double least = 0;
  const std::string text = read_system_file(root + "/proc/self/cgroup");  // "hierarchy:controllers:group"
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_part(rest, '\n');
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string group(line.substr(second + 1));
    const bool v2 = controllers.empty();
    if (!v2 && !lists(controllers, "cpu")) continue;
    for (const Mount& mount : mounts) {
      if (mount.v2 != v2) continue;
      const double quota = least_quota(root + mount.point, below(group, mount.root), v2);
      if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    }
  }
  return least;
}

std::vector<std::vector<int>> parse_affinities(std::string_view text) {
  constexpr int kMostProcessors = 1 << 16;
  const auto wrong = [&](size_t at) {
    fail(ErrorCode::fail,
         "thread affinities '{}': at character {} expected a processor's number from 1 to {}, or a range of them such as 1-8; a comma goes "
         "between the processors of a thread, a semicolon between threads",
         text, at + 1, kMostProcessors);
  };
  size_t at = 0;
  const auto number = [&] {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc() || value < 1 || value > kMostProcessors) wrong(at);
    at = static_cast<size_t>(end - text.data());
    return value;
  };
  std::vector<std::vector<int>> sets;
  for (bool is_new = true;;) {
    // Separators to spare are passed over, as in ONNX Runtime.
    for (; at < text.size() && (text[at] == ',' || text[at] == ';'); ++at) is_new = is_new || text[at] == ';';
    if (at == text.size() && !sets.empty()) return sets;
    const size_t begin = at;
    const int first = number();
    int last = first;
    if (at < text.size() && text[at] == '-') {
      ++at;
      last = number();
      if (last < first) wrong(begin);
    }
    if (std::exchange(is_new, false)) sets.emplace_back();
    for (int processor = first; processor <= last; ++processor) sets.back().push_back(processor - 1);
    if (at < text.size() && text[at] != ',' && text[at] != ';') wrong(at);
  }
}

int usable_processors() {
  const int allowed = allowed_processors();
  int count = allowed > 0 ? allowed : static_cast<int>(std::thread::hardware_concurrency());
  if (const double quota = cgroup_cpu_quota(); quota > 0) count = std::min(count, static_cast<int>(std::ceil(quota)));
  return std::max(count, 1);
}

}  // namespace rh
