/// Makes random calls to the real server and to the model and compares the responses. The same seed gives the same
/// calls.
#pragma once

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/reference/model.hpp"
#include "tests/reference/sync_model.hpp"
#include "tests/server-mock/wire.hpp"

namespace ws::mock::test {

class Run {
 public:
  explicit Run(std::uint64_t seed);

  /// Makes one random call, or a few related ones. If server and model disagree, fails the test with the seed and the
  /// calls so far.
  void step();
  /// Compares everything that any actor can read with the model.
  void compare_all();
  std::uint64_t calls() const { return calls_; }

 private:
  using Step = void (Run::*)();
  struct Keyed {
    std::size_t actor = 0;
    std::string key = {};
    Json body = {};
    std::string id = {};
    std::int64_t at = 0;
  };

  // run.cpp: actors, random choices, calls
  void add_actor(
      const std::string& name, const Json& key_wishes, Rank rank, std::string user_id, std::string workspace);
  void add_agent(const std::string& handle, const std::string& id, std::size_t owner, Level permission);
  std::size_t chance(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  bool one_in(std::size_t count) { return chance(count) == 0; }
  const Actor& any_actor() { return actors_[chance(actors_.size())]; }
  /// Mostly an actor that may write, so that most calls pass the first check.
  const Actor& any_writer() { return one_in(4) ? any_actor() : actors_[chance(3)]; }
  std::string any_document();
  std::string any_parent();
  /// All names have the same length, so that none is a prefix of another.
  std::string fresh(const std::string& what) { return what + std::to_string(100'000 + ++counter_); }
  RawAnswer send(const Actor& actor,
                 const std::string& method,
                 const std::string& target,
                 const Json& body = nullptr,
                 std::vector<std::string> headers = {});
  /// Returns the response body; fails the test if the response is not the expected one.
  Json agree(const RawAnswer& answer, const Expected& expected);
  void same(const Json& got, const Json& wanted, const std::string& what);
  [[noreturn]] void differ(const std::string& what);

  // run_documents.cpp
  void create_document();
  void replay();
  void read_document();
  void update_document();
  void archive_document();
  void share_document();
  void move_node();
  void create_project();
  void list_documents();
  void search();
  void broken_call();
  void compare(const Actor& actor, const Json& item, const ModelDocument& document, bool with_content);

  // run_comments.cpp
  void add_comment();
  void reply();
  void set_status();
  void list_comments();
  void compare(const Json& thread, const ModelThread& wanted);
  void claim();
  void finish_event();
  void advance();
  void rotate();

  // run_sync.cpp
  void open_source();
  void publish();
  void pull();
  void look_at_conflict();
  void resolve();
  std::vector<SyncItem> any_items();
  void commit(const Actor& actor, const std::vector<SyncItem>& items);
  void take_effect(const Actor& actor, const std::vector<SyncItem>& items, const Json& answer);

  std::uint64_t seed_;
  std::mt19937_64 random_;
  Wire wire_;
  Model model_ = {};
  SyncModel sync_ = {};
  std::vector<Actor> actors_ = {};          ///< the first three may write: an owner, an editor, an agent
  std::vector<std::string> projects_ = {};  ///< nodes
  std::vector<Keyed> keyed_ = {};
  std::vector<std::string> tokens_ = {};      ///< lease tokens of any event, as received
  std::vector<std::int64_t> looked_at_ = {};  ///< revisions of the source
  std::deque<std::string> trace_ = {};
  std::uint64_t calls_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace ws::mock::test
