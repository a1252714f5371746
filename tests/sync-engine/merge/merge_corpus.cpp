// How the corpus comes out of our merge and of `git merge-file`: clean as wanted, a conflict, or clean and wrong.
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "sync-engine/merge/merge.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sync-engine/merge/merge_cases.hpp"

namespace {

using ws::sync::test::MergeCase;

struct Tally {
  int clean = 0;
  int conflict = 0;
  int wrong = 0;

  void add(const MergeCase& one, const std::optional<std::string>& merged) {
    if (!merged) {
      ++conflict;
    } else if (one.merged && *one.merged == *merged) {
      ++clean;
    } else {
      ++wrong;
    }
  }
};

std::optional<std::string> by_us(const MergeCase& one) {
  const auto merge = ws::sync::merge::merge_markdown(one.base, one.ours, one.theirs);
  if (!merge || !merge->is_clean()) return std::nullopt;
  return merge->text();
}

std::optional<std::string> by_git(const MergeCase& one, const ws::test::TemporaryFolder& folder) {
  const auto put = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  };
  const std::string ours = put("ours", one.ours);
  const std::string base = put("base", one.base);
  const std::string theirs = put("theirs", one.theirs);
  const std::string command = fmt::format("git merge-file -q {} {} {}", ours, base, theirs);
  if (std::system(command.c_str()) != 0) return std::nullopt;  // NOLINT(cert-env33-c): the peer, as people call it
  std::ostringstream text;
  text << std::ifstream(ours, std::ios::binary).rdbuf();
  return text.str();
}

void print(const char* name, const Tally& tally) {
  fmt::print("{:<16}{:>7}{:>10}{:>7}\n", name, tally.clean, tally.conflict, tally.wrong);
}

}  // namespace

int main() {
  Tally ours;
  Tally git;
  Tally wanted;
  const ws::test::TemporaryFolder folder;
  for (const MergeCase& one : ws::sync::test::merge_cases()) {
    wanted.add(one, one.merged);
    ours.add(one, by_us(one));
    git.add(one, by_git(one, folder));
  }
  fmt::print("{:<16}{:>7}{:>10}{:>7}\n", "", "clean", "conflict", "wrong");
  print("as written", wanted);
  print("ws", ours);
  print("git merge-file", git);
  return ours.wrong == 0 ? 0 : 1;
}
