// Answered writes survive SIGKILL at random moments.
#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// A document as last answered, and the text of an unanswered update.
struct Expected {
  std::int64_t revision = 0;
  std::string content = {};
  std::optional<std::string> unanswered = {};
};

/// Writes over one connection until it breaks, and records the responses.
class Writer {
 public:
  Writer(const MockProcess& mock, std::map<std::string, Expected>& documents, std::set<std::string>& paths)
      : token_(mock.token()), connection_(mock.port()), documents_(documents), paths_(paths) {}

  void run(std::atomic<int>& answered) {
    for (int i = 0;; ++i) {
      const bool done = i % 7 == 3 ? commit() : i % 2 == 0 || documents_.empty() ? create() : update();
      if (!done) break;
      ++answered;
      answered.notify_all();
    }
    answered = 1'000'000;
    answered.notify_all();
  }

  /// Errors; to be read after the thread has ended.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  // Catch2 assertions may be made in one thread only.
  void expect(bool so, const std::string& error) {
    if (!so) errors_.push_back(error);
  }

  std::optional<Json> ask(const std::string& method, const std::string& target, const Json& body) {
    connection_.send(render({.method = method, .target = target, .token = token_, .json = dump(body)}));
    const auto answer = connection_.read();
    if (!answer) return std::nullopt;
    expect(answer->status < 300, method + " " + target + ": " + answer->body);
    if (answer->status >= 300) return std::nullopt;
    return parse_bounded(answer->body).value();
  }

  bool create() {
    const std::string content = fmt::format("text {}", ++count_);
    const auto made = ask("POST", "/v1/documents", {{"title", "t"}, {"content", content}});
    if (made) documents_[made->at("id")] = {.revision = 1, .content = content};
    return made.has_value();
  }

  bool update() {
    auto& [id, document] = *documents_.rbegin();
    document.unanswered = fmt::format("new text {}", ++count_);
    const auto made = ask("PUT",
                          "/v1/documents/" + id,
                          {{"content", *document.unanswered}, {"expected_content_revision", document.revision}});
    if (!made) return false;
    document = {.revision = document.revision + 1, .content = *document.unanswered};
    expect(made->at("content_revision") == document.revision, "another content_revision: " + dump(*made));
    return true;
  }

  bool commit() {
    if (source_.empty()) {
      const auto source = ask("POST", "/v1/sync/sources", {{"name", fmt::format("s{}", paths_.size())}});
      if (!source) return false;
      source_ = source->at("id");
    }
    const Json entry = {{"path", fmt::format("f{}.md", ++count_)},
                        {"size_bytes", 0},
                        {"document_id", nullptr},
                        {"content_sha256", nullptr},
                        {"base_content_revision", nullptr},
                        {"previous_path", nullptr}};
    const auto plan = ask("POST",
                          "/v1/sync/plan",
                          {{"source_id", source_},
                           {"base_revision", 0},
                           {"client_id", "c"},
                           {"complete", false},
                           {"entries", Json::array()}});
    if (!plan) return false;
    const std::string path = entry.at("path");
    const auto push = ask("POST",
                          "/v1/sync/push",
                          {{"source_id", source_},
                           {"plan_id", plan->at("plan_id")},
                           {"items",
                            {{{"path", path},
                              {"action", "push_create"},
                              {"document_id", nullptr},
                              {"content", ""},
                              {"content_sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                              {"expected_content_revision", nullptr},
                              {"previous_path", nullptr}}}}});
    if (!push) return false;
    const auto made = ask("POST",
                          "/v1/sync/commit",
                          {{"source_id", source_},
                           {"plan_id", plan->at("plan_id")},
                           {"push_ids", {push->at("push_id")}},
                           {"expected_revision", plan->at("revision")},
                           {"client_id", "c"}});
    if (!made) return false;
    expect(made->at("status") == "committed", "another status: " + dump(*made));
    paths_.insert(source_ + " " + path);
    return true;
  }

  std::string token_;
  RawConnection connection_;
  std::vector<std::string> errors_ = {};
  std::map<std::string, Expected>& documents_;
  std::set<std::string>& paths_;
  std::string source_ = {};
  int count_ = 0;
};

Json get(const MockProcess& mock, const std::string& target) {
  const RawAnswer answer = mock.ask({.target = target, .token = mock.token()});
  INFO(target << ": " << answer.body);
  CHECK(answer.status == 200);
  return parse_bounded(answer.body).value();
}

/// Checks that every document is as answered, or has the one unanswered update.
void check_documents(const MockProcess& mock, std::map<std::string, Expected>& documents) {
  for (auto& [id, document] : documents) {
    const Json now = get(mock, "/v1/documents/" + id);
    const bool went_on = document.unanswered && now.at("content_revision") == document.revision + 1;
    CHECK(now.at("content_revision") == document.revision + (went_on ? 1 : 0));
    CHECK(now.at("content") == (went_on ? *document.unanswered : document.content));
    document = {.revision = now.at("content_revision"), .content = now.at("content")};
  }
}

void check_paths(const MockProcess& mock, const std::set<std::string>& paths) {
  std::map<std::string, std::set<std::string>> there;
  for (const std::string& one : paths) {
    const std::string source = one.substr(0, one.find(' '));
    if (there.contains(source)) continue;
    const Json pulled = get(mock, "/v1/sync/sources/" + source + "/pull");
    for (const Json& item : pulled.at("data")) there[source].insert(source + " " + item.at("path").get<std::string>());
  }
  for (const std::string& one : paths) CHECK(there.at(one.substr(0, one.find(' '))).contains(one));
}

}  // namespace

TEST_CASE("durable: SIGKILL at random moments loses nothing that was answered", "[server-mock]") {
  TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data", (folder / "world.db").string(), "--log", "off"};
  std::map<std::string, Expected> documents;
  std::set<std::string> paths;
  std::mt19937 random(20261120);
  constexpr int kills = 24;
  for (int round = 0; round < kills; ++round) {
    CAPTURE(round, documents.size(), paths.size());
    MockProcess mock(flags);
    check_documents(mock, documents);
    check_paths(mock, paths);
    std::atomic<int> answered = 0;
    Writer writer(mock, documents, paths);
    std::thread stream([&] { writer.run(answered); });
    const int wanted = std::uniform_int_distribution(0, 25)(random);
    for (int now = answered; now < wanted; now = answered) answered.wait(now);
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 3000)(random)));
    CHECK(mock.end(SIGKILL).exit == 128 + SIGKILL);
    stream.join();
    CHECK(writer.errors() == std::vector<std::string>());
  }
  MockProcess mock(flags);
  check_documents(mock, documents);
  check_paths(mock, paths);
  CHECK(documents.size() > kills);
  CHECK_FALSE(paths.empty());
}

TEST_CASE("idempotency: twelve parallel creates with one key make one object", "[server-mock]") {
  MockProcess mock;
  const std::string request = render({.method = "POST",
                                      .target = "/v1/documents",
                                      .token = mock.token(),
                                      .json = R"({"title": "once", "content": "x"})",
                                      .headers = {"Idempotency-Key: the-one"}});
  std::vector<std::unique_ptr<RawConnection>> connections;
  for (int i = 0; i < 12; ++i) connections.push_back(std::make_unique<RawConnection>(mock.port()));
  for (const auto& connection : connections) connection->send(request);
  std::set<std::string> ids;
  int replayed = 0;
  for (const auto& connection : connections) {
    const auto answer = connection->read();
    REQUIRE(answer);
    CHECK(answer->status == 201);
    replayed += answer->header("idempotent-replayed") == "true" ? 1 : 0;
    ids.insert(parse_bounded(answer->body).value().at("id"));
  }
  CHECK(ids.size() == 1);
  CHECK(replayed == 11);
}
