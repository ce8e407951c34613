// The cache of compiled regions: what is found, what is not believed, and what goes.
#include "providers/kit/cache/artifact_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>
#include <tuple>

#include "base/file.h"
#include "base/sha256.h"
#include "kit/forged.h"
#include "providers/kit/cache/content_hash.h"
#include "providers/kit/cache/content_mark.h"

namespace rh {

namespace {

namespace fs = std::filesystem;
using kit::Artifact, kit::ArtifactCache;

constexpr char kProvider[] = "SampleExecutionProvider";

std::string key(int number) { return kit::hash_of(std::to_string(number)); }

Artifact artifact(int number, size_t bytes = 100) {
  return {kProvider, "vendor 4", "region", key(number), std::string(bytes, static_cast<char>('a' + number % 26))};
}

class KitCache : public testing::Test {
 protected:
  KitCache() : folder_(fs::temp_directory_path() / fmt::format("rh_cache_{}_{}", ::getpid(), counter_++)) {}
  ~KitCache() override { fs::remove_all(folder_); }

  ArtifactCache cache(uint64_t limit_bytes = 1 << 20) {
    return ArtifactCache({folder_.string(), limit_bytes}, [this](const std::string& sentence) { warnings_.push_back(sentence); });
  }
  std::string file(int number) const { return (folder_ / (key(number) + ".artifact")).string(); }
  /// The payload of what is found, or "" where nothing is.
  std::string found(int number) {
    const std::optional<Artifact> artifact = cache().find(key(number), kProvider);
    return artifact ? std::string(artifact->payload.view) : "";
  }
  std::string only_warning() const { return warnings_.size() == 1 ? warnings_[0] : fmt::format("{} warnings", warnings_.size()); }

  fs::path folder_;
  std::vector<std::string> warnings_;

 private:
  static inline int counter_ = 0;
};

TEST(KitHash, IsSha256) {
  EXPECT_EQ(kit::hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(kit::hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(kit::hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(kit::hash_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  kit::ContentHash pieces;
  for (size_t i = 0; i < 1'000'000;) {  // pieces that end anywhere in a block
    const size_t taken = std::min<size_t>(i % 131 + 1, 1'000'000 - i);
    const std::string part(taken, 'a');
    pieces.add(std::as_bytes(std::span(part)));
    i += taken;
  }
  EXPECT_EQ(pieces.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(KitHash, IsTheSameByTheProcessorsInstructions) {
  std::vector<std::byte> blocks(64 * 37);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  uint32_t states[2][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}};
  sha256_blocks(states[0], blocks.data(), 37);
  sha256_blocks_plain(states[1], blocks.data(), 37);
  EXPECT_TRUE(std::ranges::equal(states[0], states[1]));
}

TEST(KitHash, AChecksumTellsBytesApart) {
  std::string bytes(1000, 'a');
  std::set<uint64_t> sums{kit::checksum_of(bytes)};
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] ^= 4;
    sums.insert(kit::checksum_of(other));
    sums.insert(kit::checksum_of(std::string_view(bytes).substr(0, i)));
  }
  EXPECT_EQ(sums.size(), 2 * bytes.size() + 1);
}

TEST(KitHash, NoTwoBitsOfALaneUndoEachOther) {
  constexpr size_t kBits = 64, kNext = 32 * 8;  // the next word of the lane is 32 bytes further on
  const std::string bytes(96, 'a');
  std::set<uint64_t> sums{kit::checksum_of(bytes)};
  const auto flip = [](std::string& of, size_t bit) { of[bit / 8] = static_cast<char>(of[bit / 8] ^ 1 << bit % 8); };
  for (size_t first = 0; first < kBits; ++first) {
    for (size_t other = 0; other < kBits; ++other) {
      std::string changed = bytes;
      flip(changed, first), flip(changed, kNext + other);
      sums.insert(kit::checksum_of(changed));
    }
  }
  EXPECT_EQ(sums.size(), kBits * kBits + 1);
}

TEST(KitMark, TellsContentsApartWhoseChecksumWasMadeEqual) {
  std::string bytes(4096, 'a'), other = bytes;
  forge(std::as_writable_bytes(std::span(other)));
  ASSERT_NE(bytes, other);
  ASSERT_EQ(kit::checksum_of(bytes), kit::checksum_of(other));
  EXPECT_NE(kit::content_mark(bytes, kit::MarkKey::of_process()), kit::content_mark(other, kit::MarkKey::of_process()));
}

TEST(KitMark, DependsOnEachByteTheLengthAndTheKey) {
  const kit::MarkKey key(kit::MarkKey::drawn_secret());
  std::string bytes(3 * kit::MarkKey::kBlock + 21, 'a');
  std::set<kit::ContentMark> marks{kit::content_mark(bytes, key)};
  size_t count = 1;
  for (size_t i = 0; i < bytes.size(); ++i, count += 2) {
    marks.insert(kit::content_mark(std::string_view(bytes).substr(0, i), key));
    bytes[i] ^= 1;
    marks.insert(kit::content_mark(bytes, key));
    bytes[i] ^= 1;
  }
  for (size_t zeros = 1; zeros < 100; ++zeros, ++count) marks.insert(kit::content_mark(std::string(zeros, '\0'), key));
  for (const size_t block : {0, 1, 2}) {  // the same blocks in another order
    std::string moved = bytes;
    moved[block * kit::MarkKey::kBlock] ^= 4;
    marks.insert(kit::content_mark(moved, key)), ++count;
  }
  EXPECT_EQ(marks.size(), count);
  EXPECT_EQ(kit::content_mark(bytes, key), kit::content_mark(std::string(bytes), key));
  EXPECT_NE(kit::content_mark(bytes, key), kit::content_mark(bytes, kit::MarkKey(kit::MarkKey::drawn_secret())));
}

TEST(KitArtifact, ComesBackOrIsNone) {
  const Artifact made{kProvider, "vendor 4\nof two lines", "region: 7", key(1), std::string("\n\nbytes: 3\n\0\n", 13)};
  const std::string bytes = made.to_bytes();
  EXPECT_EQ((bytes.size() - made.payload.view.size()) % 64, 0u);
  const std::optional<Artifact> read = Artifact::from_bytes(std::string_view(bytes));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->provider, kProvider);
  EXPECT_EQ(read->made_by, "vendor 4 of two lines");
  EXPECT_EQ(read->region, "region: 7");
  EXPECT_EQ(read->key, made.key);
  EXPECT_EQ(read->payload.view, made.payload.view);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(Artifact::from_bytes(std::string_view(damaged))) << i;
    EXPECT_FALSE(Artifact::from_bytes(std::string_view(bytes).substr(0, i))) << i;
  }
  EXPECT_FALSE(Artifact::from_bytes(kit::OwnedBytes(bytes + "x")));
}

TEST_F(KitCache, FindsWhatWasKeptInAFolderOfTheUserAlone) {
  EXPECT_EQ(found(1), "");
  cache().keep(artifact(1));
  EXPECT_EQ(found(1), artifact(1).payload.view);
  EXPECT_EQ(found(2), "");
  EXPECT_FALSE(cache().find(key(1), "OtherExecutionProvider"));
  struct stat state = {};
  ASSERT_EQ(::stat(folder_.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(file(1).c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0600u);
}

struct BadFile {
  const char* what;
  const char* warning;
  std::function<void(const std::string& path)> harm;
};

const BadFile kBadFiles[] = {
    {"cut short", "is damaged: the region is compiled anew", [](const auto& path) { fs::resize_file(path, fs::file_size(path) - 1); }},
    {"empty", "is damaged: the region is compiled anew", [](const auto& path) { fs::resize_file(path, 0); }},
    {"of another key", "is of another region: the region is compiled anew",
     [](const auto& path) { write_file(path, artifact(2).to_bytes()); }},
    {"written by anybody", "is not used: it may be written by others (mode 666)", [](const auto& path) { ::chmod(path.c_str(), 0666); }},
    {"a link", "is not read: ",
     [](const auto& path) {
       fs::rename(path, path + ".real");
       fs::create_symlink(path + ".real", path);
     }},
    {"a folder", "is no file",
     [](const auto& path) {
       fs::remove(path);
       fs::create_directory(path);
     }},
};

TEST_F(KitCache, DoesNotBelieveEveryFile) {
  for (const BadFile& bad : kBadFiles) {
    SCOPED_TRACE(bad.what);
    cache().keep(artifact(1));
    warnings_.clear();
    bad.harm(file(1));
    EXPECT_EQ(found(1), "");
    EXPECT_NE(only_warning().find(bad.warning), std::string::npos) << only_warning();
    if (fs::is_directory(fs::symlink_status(file(1)))) fs::remove(file(1));
    cache().keep(artifact(1));  // compiled anew
    EXPECT_EQ(found(1), artifact(1).payload.view);
  }
}

/// Runs `work` in a child, which ends with 0 where that gives true.
pid_t start_child(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  return child;
}

int status_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

constexpr size_t kLargePayload = 4 << 20;

TEST_F(KitCache, HasWhatItFoundWhateverHappensToTheFile) {
  const std::string payload(artifact(1, kLargePayload).payload.view);
  const std::function<void(const std::string&)> harms[] = {
      [](const auto& path) { fs::resize_file(path, 10); },
      [](const auto& path) {
        const int file = ::open(path.c_str(), O_WRONLY);
        for (off_t at = 0; at < static_cast<off_t>(kLargePayload); at += 4096) std::ignore = ::pwrite(file, "#", 1, at);
        ::close(file);
      },
      [](const auto& path) { fs::remove(path); },
  };
  for (const auto& harm : harms) {
    cache().keep(artifact(1, kLargePayload));
    const pid_t reader = start_child([&] {  // what SIGBUS ends is a child
      const std::optional<Artifact> found = cache().find(key(1), kProvider);
      const pid_t other = start_child([&] {
        harm(file(1));
        return true;
      });
      return status_of(other) == 0 && found && found->payload.view == payload;
    });
    EXPECT_EQ(status_of(reader), 0);
    fs::remove(file(1));
  }
}

TEST_F(KitCache, ReadsFilesThatOthersCutAndRewriteMeanwhile) {
  const Artifact kept = artifact(1, kLargePayload);
  const std::string bytes = kept.to_bytes();
  cache().keep(kept);
  const pid_t writer = start_child([&] {
    for (;;) {
      fs::resize_file(file(1), 100);
      const int output = ::open(file(1).c_str(), O_WRONLY);
      std::ignore = ::pwrite(output, bytes.data(), bytes.size(), 0);
      ::close(output);
      ::usleep(20'000);
    }
    return false;
  });
  const pid_t reader = start_child([&] {
    int whole = 0, cut = 0;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); whole < 5 || cut < 5;) {
      const std::optional<Artifact> found = cache().find(key(1), kProvider);
      if (found && found->payload.view != kept.payload.view) return false;
      ++(found ? whole : cut);
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  });
  EXPECT_EQ(status_of(reader), 0);
  ::kill(writer, SIGKILL);
  status_of(writer);
}

TEST_F(KitCache, DoesNotUseAFolderThatOthersMayWriteTo) {
  fs::create_directory(folder_);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  ArtifactCache open = cache();
  open.keep(artifact(1));
  EXPECT_FALSE(open.find(key(1), kProvider));
  EXPECT_FALSE(open.is_on());
  EXPECT_NE(only_warning().find("is not used: it may be written by others (mode 777)"), std::string::npos) << only_warning();
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(KitCache, DoesNotUseWhatBelongsToAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  cache().keep(artifact(1));
  ASSERT_EQ(::chown(file(1).c_str(), 4321, 4321), 0);
  EXPECT_EQ(found(1), "");
  EXPECT_NE(only_warning().find("it belongs to user 4321, not to user 0"), std::string::npos) << only_warning();
  warnings_.clear();
  ASSERT_EQ(::chown(folder_.c_str(), 4321, 4321), 0);
  EXPECT_EQ(found(1), "");
  EXPECT_NE(only_warning().find("it belongs to user 4321, not to user 0"), std::string::npos) << only_warning();
}

TEST_F(KitCache, IsOffWhereItsFolderCannotBeMade) {
  write_file(folder_.string(), "a file");
  ArtifactCache none = cache();
  none.keep(artifact(1));
  EXPECT_FALSE(none.is_on());
  EXPECT_NE(only_warning().find("it cannot be opened: Not a directory"), std::string::npos) << only_warning();
  folder_ = "/proc/no_such_folder/cache";
  warnings_.clear();
  EXPECT_EQ(found(1), "");
  EXPECT_NE(only_warning().find("it cannot be made: "), std::string::npos) << only_warning();
}

TEST_F(KitCache, KeepsNothingWhereAFullDiskOrALimitForbidsIt) {
  cache().keep(artifact(1));
  const rlimit before = [] {
    rlimit limit = {};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{50, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  cache().keep(artifact(2));
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(only_warning().find("which cannot be written: File too large"), std::string::npos) << only_warning();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  EXPECT_EQ(found(1), artifact(1).payload.view);
}

TEST_F(KitCache, LetsGoWhatWasNotUsedForLongest) {
  const uint64_t one = artifact(0, 1000).to_bytes().size();
  for (int i = 0; i < 4; ++i) {
    cache().keep(artifact(i, 1000));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_NE(found(0), "");  // used once more, so 1 is the oldest
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  cache(4 * one).keep(artifact(4, 1000));
  std::string left;
  for (int i = 0; i < 5; ++i) left += fs::exists(file(i)) ? '1' : '0';
  EXPECT_EQ(left, "10111");
  cache(one / 2).keep(artifact(5, 1000));  // what is larger than the bound stays until the next
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  EXPECT_NE(found(5), "");
}

TEST_F(KitCache, RemovesPartsThatEndedProcessesLeft) {
  cache().keep(artifact(1));
  const fs::path old = folder_ / ".part-1-2-3", fresh = folder_ / ".part-4-5-6";
  for (const fs::path& part : {old, fresh}) write_file(part.string(), "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache().keep(artifact(2));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(KitCache, GivesNamesOfKeysBack) {
  EXPECT_FALSE(cache().key_of_name(key(7)));
  cache().name_key(key(7), key(1));
  EXPECT_EQ(cache().key_of_name(key(7)), key(1));
  write_file((folder_ / (key(7) + ".key")).string(), "../../etc/passwd");
  EXPECT_FALSE(cache().key_of_name(key(7)));
}

TEST_F(KitCache, KeepsTheKeyOfMarksForTheUserAlone) {
  const auto mark = [&] { return kit::content_mark("content", cache().mark_key().value()); };
  const kit::ContentMark first = mark();
  EXPECT_EQ(mark(), first);
  const std::string secret = (folder_ / "marks.secret").string();
  struct stat state = {};
  ASSERT_EQ(::stat(secret.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0600u);
  cache(1).keep(artifact(1));  // takes nothing of it for the bound's sake
  EXPECT_EQ(mark(), first);
  write_file(secret, "no secret");
  const kit::ContentMark second = mark();
  EXPECT_NE(second, first);
  EXPECT_EQ(mark(), second);
  fs::remove_all(folder_);
  EXPECT_NE(mark(), second);
  fs::remove_all(folder_);
  write_file(folder_.string(), "a file");
  EXPECT_FALSE(cache().mark_key());
}

// What is found is always whole and right, whoever else writes, reads and removes.
void use_in_a_race(const std::string& folder, int seed, std::vector<std::string>& faults) {
  ArtifactCache cache({folder, 6000}, [&](const std::string& sentence) { faults.push_back(sentence); });
  for (int i = 0; i < 200; ++i) {
    const int number = (i * 7 + seed) % 10;
    const std::optional<Artifact> found = cache.find(key(number), kProvider);
    if (!found) {
      cache.keep(artifact(number, 1000));
    } else if (found->payload.view != artifact(number, 1000).payload.view) {
      faults.push_back("another payload");
    }
  }
}

TEST_F(KitCache, IsRacedByProcessesAndThreads) {
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::string> faults;
      use_in_a_race(folder_.string(), p, faults);
      ::_exit(faults.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  std::vector<std::string> faults[4];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { use_in_a_race(folder_.string(), t + 4, faults[t]); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : faults) EXPECT_TRUE(of_thread.empty()) << of_thread[0];
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path().extension(), ".artifact") << entry.path();
}

}  // namespace

}  // namespace rh
