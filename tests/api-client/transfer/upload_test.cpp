#include "api-client/transfer/upload.hpp"

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/http/curl.hpp"
#include "tests/support/client_world.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/no_jitter.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"

using namespace ws;
using namespace ws::test;
using Kind = Failure::Kind;

namespace {

const std::string text = "some bytes of a file";

/// The three steps of an upload, each as the test wants it.
struct Uploading {
  std::function<std::optional<Script>(const Seen&)> meddle = [](const Seen&) { return std::nullopt; };
  std::string upload_origin = {};  ///< where the bytes go; empty: this server
  std::string extra_header = {};
  HostileServer server{[this](const Seen& seen) { return serve(seen); }};
  TemporaryFolder folder;
  SystemClock clock;
  NoJitter random;
  std::unique_ptr<http::Transport> transport = *http::make_curl_transport();
  Client client{
      *transport, clock, random, {.base_url = server.origin(), .credential = Credential{secret_key, server.origin()}}};
  std::vector<UploadState> kept = {};
  int forgotten = 0;
  bool records_later = false;
  std::function<void()> send = {};  ///< the finalize that waits
  std::vector<std::string> steps_before_record = {};

  Uploading() { write_text(folder / "a.txt", text); }

  Script serve(const Seen& seen) const {
    if (auto script = meddle(seen)) return *script;
    if (seen.target == "/v1/files/uploads") {
      Json headers = {{"X-Blob", "yes"}, {"Content-Type", "text/plain"}};
      if (!extra_header.empty()) headers[extra_header] = "x";
      return answer(201,
                    dump(Json{{"upload_id", some_id},
                              {"blob_name", "b"},
                              {"upload_url", (upload_origin.empty() ? server.origin() : upload_origin) + "/blob?sig=1"},
                              {"upload_method", "PUT"},
                              {"upload_headers", headers},
                              {"expires_at", "2030-01-01T00:00:00.000Z"}}));
    }
    if (seen.method == "PUT") return answer(200, "");
    return answer(201, dump(asset()));
  }
  static Json asset() {
    return {{"id", some_id}, {"size_bytes", text.size()}, {"content_sha256", Sha256::of(text).hex()}};
  }

  Result<Reply> run(std::optional<StartedUpload> resumed = {}) {
    const auto stamp = stamp_of(folder / "a.txt");
    REQUIRE(stamp);
    UploadObserver observer;
    observer.kept = [this](const StartedUpload& started) {
      kept.push_back(started.state);
      return Result<void>();
    };
    observer.forgotten = [this](const StartedUpload&) { ++forgotten; };
    if (records_later) {
      observer.finishing = [this](const StartedUpload& started, std::function<void()> go_on) {
        kept.push_back(started.state);
        send = std::move(go_on);
      };
    }
    std::optional<Result<Reply>> result;
    start_upload(client,
                 {.path = folder / "a.txt", .file_name = "a.txt", .mime_type = "text/plain", .stamp = *stamp},
                 std::move(resumed),
                 std::move(observer),
                 [&](Result<Reply> reply) { result = std::move(reply); });
    while (!result) {
      client.run(std::chrono::milliseconds{100});
      if (!send) continue;
      steps_before_record = steps();
      std::exchange(send, {})();
    }
    return std::move(*result);
  }
  std::vector<std::string> steps() const {
    std::vector<std::string> names;
    for (const Seen& seen : server.requests()) {
      names.push_back(seen.method == "PUT" ? "put" : seen.target == "/v1/files/uploads" ? "start" : seen.target);
    }
    return names;
  }
  StartedUpload started(UploadState state) const {
    return {.upload_id = some_id, .blob_name = "b", .upload_url = server.url("/blob?sig=1"), .state = state};
  }
};

constexpr const char* finalize = "/v1/files/uploads:finalize";

}  // namespace

TEST_CASE("upload: start, bytes, finalize, the key goes to the API alone", "[transfer]") {
  Uploading stage;
  REQUIRE(stage.run());
  CHECK(stage.steps() == std::vector<std::string>{"start", "put", finalize});
  CHECK(stage.kept == std::vector{UploadState::started, UploadState::finishing});
  CHECK(stage.forgotten == 0);
  const auto requests = stage.server.requests();
  CHECK(requests[0].header("Authorization"));
  CHECK_FALSE(requests[1].header("Authorization"));
  CHECK(requests[1].header("X-Blob") == "yes");
  CHECK(requests[1].header("Content-Length") == std::to_string(text.size()));
  CHECK(requests[1].body == text);
  CHECK(requests[1].target == "/blob?sig=1");
}

TEST_CASE("upload: a finalize waits until its record is said to be on the disk", "[transfer]") {
  Uploading stage;
  stage.records_later = true;
  REQUIRE(stage.run());
  CHECK(stage.steps_before_record == std::vector<std::string>{"start", "put"});
  CHECK(stage.steps() == std::vector<std::string>{"start", "put", finalize});
  CHECK(stage.kept == std::vector{UploadState::started, UploadState::finishing});
}

TEST_CASE("upload: the bytes are sent again from the first one", "[transfer]") {
  Uploading stage;
  int puts = 0;
  stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
    if (seen.method != "PUT" || ++puts == 3) return std::nullopt;
    return puts == 1 ? Script{CloseConnection{}} : answer(500, "");
  };
  REQUIRE(stage.run());
  const auto requests = stage.server.requests();
  REQUIRE(requests.size() == 5);
  CHECK(requests[3].body == text);
}

TEST_CASE("upload: an address or a header that must not be used is refused before a byte is sent", "[transfer]") {
  Uploading stage;
  SECTION("plain http elsewhere") { stage.upload_origin = "http://blobs.example.org"; }
  SECTION("no http at all") { stage.upload_origin = "file:///etc"; }
  SECTION("another host in a user name") { stage.upload_origin = "http://127.0.0.1@evil.example"; }
  SECTION("Authorization") { stage.extra_header = "authorization"; }
  SECTION("Host") { stage.extra_header = "Host"; }
  SECTION("Cookie") { stage.extra_header = "Cookie"; }
  SECTION("Transfer-Encoding") { stage.extra_header = "Transfer-Encoding"; }
  SECTION("Content-Length") { stage.extra_header = "Content-Length"; }
  const auto reply = stage.run();
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == "unusable_answer");
  CHECK(stage.steps() == std::vector<std::string>{"start"});
}

TEST_CASE("upload: a finalize without an answer is sent once, gone on with, it finds the Asset", "[transfer]") {
  const bool is_in_detail = GENERATE(false, true);
  Uploading stage;
  stage.meddle = [](const Seen& seen) -> std::optional<Script> {
    if (seen.target == finalize) return Script{CloseConnection{}};
    return std::nullopt;
  };
  const auto lost = stage.run();
  REQUIRE_FALSE(lost);
  CHECK(lost.error().kind == Kind::unknown_outcome);
  CHECK(stage.kept.back() == UploadState::finishing);
  CHECK(stage.steps() == std::vector<std::string>{"start", "put", finalize});

  stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
    if (seen.target != finalize)
      return seen.method == "GET" ? std::optional(answer(200, dump(Uploading::asset()))) : std::nullopt;
    const Json told = {{"code", "upload_consumed"}, {"asset_id", some_id}};
    return answer(409, dump(is_in_detail ? Json{{"detail", told}} : told));
  };
  const auto found = stage.run(stage.started(UploadState::finishing));
  REQUIRE(found);
  CHECK(find_text(*found->json, "id") == some_id);
  CHECK(stage.steps().back() == std::string("/v1/files/") + some_id);
  CHECK(stage.forgotten == 0);
}

TEST_CASE("upload: gone on with, it sends only what is missing, and begins anew where the service has forgotten",
          "[transfer]") {
  Uploading stage;
  SECTION("the bytes") {
    REQUIRE(stage.run(stage.started(UploadState::started)));
    CHECK(stage.steps() == std::vector<std::string>{"put", finalize});
  }
  SECTION("the bytes, though a finalize was tried") {
    int tries = 0;
    stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
      if (seen.target != finalize || ++tries > 1) return std::nullopt;
      return answer(409, R"({"detail":"x","code":"upload_incomplete"})");
    };
    REQUIRE(stage.run(stage.started(UploadState::finishing)));
    CHECK(stage.steps() == std::vector<std::string>{finalize, "put", finalize});
  }
  SECTION("all of it") {
    bool lapsed = true;
    stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
      if (seen.method != "PUT" || !std::exchange(lapsed, false)) return std::nullopt;
      return answer(403, "expired");
    };
    int finalized = 0;
    const auto meddle_with_bytes = stage.meddle;
    stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
      if (seen.target != finalize || ++finalized > 1) return meddle_with_bytes(seen);
      return answer(409, R"({"detail":"x","code":"upload_incomplete"})");
    };
    REQUIRE(stage.run(stage.started(UploadState::started)));
    CHECK(stage.steps() == std::vector<std::string>{"put", finalize, "start", "put", finalize});
    CHECK(stage.forgotten == 1);
  }
  SECTION("nothing: another run has made the Asset, and the address takes no bytes any more") {
    stage.meddle = [](const Seen& seen) -> std::optional<Script> {
      if (seen.method == "PUT") return answer(403, "used");
      if (seen.target != finalize) return answer(200, dump(Uploading::asset()));
      return answer(409, dump(Json{{"detail", "x"}, {"code", "upload_consumed"}, {"asset_id", some_id}}));
    };
    REQUIRE(stage.run(stage.started(UploadState::started)));
    CHECK(stage.steps() == std::vector<std::string>{"put", finalize, std::string("/v1/files/") + some_id});
    CHECK(stage.forgotten == 0);
  }
}

TEST_CASE("upload: what is sure of this finalize says nothing of that of an earlier run", "[transfer]") {
  Uploading stage;
  stage.meddle = [](const Seen& seen) -> std::optional<Script> {
    if (seen.target != finalize) return std::nullopt;
    return answer(403, R"({"detail":"x","code":"forbidden"})");
  };
  const bool was_in_doubt = GENERATE(true, false);
  const auto refused = stage.run(stage.started(was_in_doubt ? UploadState::finishing : UploadState::started));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().call.applied == (was_in_doubt ? Applied::unknown : Applied::no));
  CHECK(stage.kept.back() == (was_in_doubt ? UploadState::finishing : UploadState::started));
}

TEST_CASE(
    "upload: a finalize in doubt that is refused is looked for, and unknown where no Asset is proven to be its own",
    "[transfer]") {
  Uploading stage;
  Json asset = Uploading::asset();
  asset["original_file_name"] = "a.txt";
  const std::string change = GENERATE("", "original_file_name", "content_sha256", "size_bytes");
  if (!change.empty()) asset[change] = nullptr;
  const int status = GENERATE(404, 409, 410);
  CAPTURE(change, status);
  stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
    if (seen.target == finalize) return answer(status, "{}");
    if (seen.target == "/v1/files?limit=100") return answer(200, dump(Json{{"data", {asset}}}));
    return std::nullopt;
  };
  const auto ended = stage.run(stage.started(UploadState::finishing));
  CHECK(ended.has_value() == change.empty());
  std::vector<std::string> steps = {finalize, "/v1/files?limit=100"};
  if (ended) {
    CHECK(find_text(*ended->json, "id") == some_id);
    steps.push_back(std::string("/v1/files/") + some_id);
  } else {
    CHECK(ended.error().kind == Kind::unknown_outcome);
    CHECK(ended.error().call.applied == Applied::unknown);
    CHECK(stage.kept.back() == UploadState::finishing);
  }
  CHECK(stage.steps() == steps);
  CHECK(stage.forgotten == 0);
}

TEST_CASE("upload: an Asset without an id is no answer, and a later run asks for it again", "[transfer]") {
  Uploading stage;
  stage.meddle = [](const Seen& seen) -> std::optional<Script> {
    return seen.target == finalize ? std::optional(answer(201, R"({"ok":1})")) : std::nullopt;
  };
  const auto reply = stage.run();
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Kind::unknown_outcome);
  CHECK(reply.error().code == "unusable_answer");
  CHECK(reply.error().call.applied == Applied::unknown);
  CHECK(stage.kept.back() == UploadState::finishing);
}

TEST_CASE("upload: other bytes at the service are an integrity failure", "[transfer]") {
  Uploading stage;
  Json other = Uploading::asset();
  SECTION("hash") { other["content_sha256"] = Sha256::of("else").hex(); }
  SECTION("size") { other["size_bytes"] = 3; }
  stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
    return seen.target == finalize ? std::optional(answer(201, dump(other))) : std::nullopt;
  };
  const auto reply = stage.run();
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Kind::integrity);
  CHECK(reply.error().call.applied == Applied::yes);
}

TEST_CASE("upload: a file that changes while it is sent does not become an Asset", "[transfer]") {
  Uploading stage;
  stage.meddle = [&](const Seen& seen) -> std::optional<Script> {
    if (seen.target == "/v1/files/uploads") write_text(stage.folder / "a.txt", "now it is another text");
    return std::nullopt;
  };
  const auto reply = stage.run();
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Kind::disk);
  CHECK(stage.steps() == std::vector<std::string>{"start"});
}
