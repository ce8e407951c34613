// What is of systems that fork, and of Linux's limits on processors.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/thread_pool.h"

namespace rh {
namespace {

// ThreadSanitizer does not follow threads that start after a fork.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RH_NO_FORK 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define RH_NO_FORK 1
#endif
#ifndef RH_NO_FORK
int64_t sum_to_999(ThreadPool& pool) {
  std::atomic<int64_t> sum{0};
  pool.parallel_for(1000, {.bytes = 1000}, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) sum += i;
  });
  return sum;
}

TEST(ThreadPool, child_of_a_fork_has_workers_of_its_own) {
  ThreadPool::Options options;
  options.threads = 2;
  ThreadPool pool(options);
  ASSERT_EQ(sum_to_999(pool), 499500);
  const pid_t child = fork();
  if (child == 0) _exit(sum_to_999(pool) == 499500 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(sum_to_999(pool), 499500);
}
#endif

/// A tree of files that stands in for /proc and /sys.
class FakeRoot {
 public:
  FakeRoot() {
    char name[] = "/tmp/rh_cgroup_XXXXXX";
    root_ = mkdtemp(name);
  }
  ~FakeRoot() { (void)!std::system(("rm -r '" + root_ + "'").c_str()); }
  void write(const std::string& path, const std::string& text) {
    for (size_t at = 1; (at = path.find('/', at)) != std::string::npos; ++at) mkdir((root_ + path.substr(0, at)).c_str(), 0700);
    std::ofstream(root_ + path) << text;
  }
  double quota() const { return cgroup_cpu_quota(root_); }

 private:
  std::string root_;
};

TEST(CgroupQuota, version_2_takes_the_least_of_all_ancestors) {
  FakeRoot root;
  root.write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  root.write("/proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(root.quota(), 0);
  root.write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(root.quota(), 0);
  root.write("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  EXPECT_EQ(root.quota(), 2.5);
  root.write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(root.quota(), 0.5);
}

TEST(CgroupQuota, version_1_in_a_container_that_sees_the_path_of_its_host) {
  FakeRoot root;
  root.write("/proc/self/mountinfo",
             "40 30 0:30 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "41 30 0:31 /docker/x /sys/fs/cgroup/cpu,cpuacct rw master:9 - cgroup cgroup rw,cpu,cpuacct\n");
  root.write("/proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(root.quota(), 3);
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(root.quota(), 0);
}

}  // namespace
}  // namespace rh
