/// The real mock server in this process, and another client that changes documents directly.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/http/transport.hpp"
#include "server-mock/application/application.hpp"

namespace ws::property {

/// The base URL that all clients use; no socket is opened.
inline constexpr const char* service_url = "http://127.0.0.1:1";

struct Document {
  std::string path = {};
  std::string text = {};
  std::uint64_t revision = 0;
  bool operator==(const Document&) const = default;
};
using Documents = std::map<std::string, Document>;  ///< by id

/// One item of a push.
struct Item {
  std::string action = {};
  std::string path = {};
  std::string document = {};
  std::optional<std::string> text = {};
  std::string previous_path = {};
};

class Service {
 public:
  Service();

  /// Processes one request without sockets or faults.
  http::Response answer(const http::Request& request);
  const std::string& token() const;
  const std::string& viewers_token();  ///< of the same person, but it may only read
  const std::string& source_id() const { return source_id_; }
  void assume(const std::string& key, const std::string& value);  ///< `decisions.md`, "Assumption switches"
  void pass(std::chrono::seconds time);                           ///< advances the server's clock

  const Documents& documents();               ///< cached between two requests that may change them
  std::map<std::string, std::string> tree();  ///< texts by path
  /// The list of attachments: the hash of each, in hex, by path.
  std::map<std::string, std::string> listed();
  std::set<std::string> asset_hashes();  ///< of every Asset, in hex
  std::optional<std::string> find(const std::string& path);
  /// The number of documents ever created and the open conflicts: "3 documents|revision a.md|".
  std::string ledger();

  /// Publishes at once, based on the service's current state. Conflicts that the service records are left open.
  void publish(const std::vector<Item>& items);
  void retitle(const std::string& document, const std::string& title);
  void save();  ///< the state that `restore` brings back, as a backup does
  void restore();
  /// Another client decides every open conflict: this is the text of the document now.
  void decide_conflicts(const std::string& text);
  /// Revisions returned by commits.
  bool has_returned(const std::string& document, std::uint64_t revision) const {
    return log_.contains({document, revision});
  }
  /// All texts of all documents seen so far, by id and revision.
  const std::map<std::pair<std::string, std::uint64_t>, std::string>& known_texts() const { return known_; }

 private:
  Json call(const std::string& method, const std::string& target, const std::string& body = {});
  Documents ask_for_documents();

  std::unique_ptr<mock::Application> application_;
  std::string source_id_;
  std::string viewers_token_;  ///< empty: none was made yet
  std::set<std::pair<std::string, std::uint64_t>> log_;
  std::optional<Documents> documents_;        ///< empty: not cached
  std::map<std::string, std::string> lists_;  ///< texts of the parts of the list of attachments, by path
  std::map<std::pair<std::string, std::uint64_t>, std::string> known_;
};

}  // namespace ws::property
