#include "sync-engine/disk/background.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

using namespace ws::sync;

TEST_CASE("background: jobs run in order, on a thread or without one", "[sync-engine][disk]") {
  const OwnThread own = GENERATE(OwnThread::none, OwnThread::one);
  std::string told;
  {
    Background background(own);
    for (const char letter : std::string("abc")) {
      background.add(std::string(1, letter), [&told](const std::string& text) { told += text; });
    }
    background.add([&told] { told += '.'; });
    background.wait();
    CHECK(told == "abc.");
    background.add("d", [&told](const std::string& text) { told += text; });
  }
  CHECK(told == "abc.d");
}

TEST_CASE("background: the texts of waiting jobs are bounded, however slow the disk is", "[sync-engine][disk]") {
  const std::string mebibyte(std::size_t{1} << 20U, 'x');
  std::atomic<std::size_t> added = 0;
  std::size_t ended = 0;
  std::size_t most_held = 0;
  Background background(OwnThread::one);
  for (int i = 0; i < 40; ++i) {
    background.add(mebibyte, [&](const std::string& text) {
      std::this_thread::yield();
      most_held = std::max(most_held, (added - ended) * text.size());
      ++ended;
    });
    ++added;
  }
  background.wait();
  CHECK(ended == 40);
  CHECK(most_held <= 3 * mebibyte.size());  // at 2 MiB one more is let in
}
