/// A server without sockets: request bytes in, response bytes out, on a frozen clock.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "server-mock/application/application.hpp"
#include "server-mock/http/server/connection.hpp"
#include "tests/support/raw_http.hpp"

namespace ws::mock::test {

using ws::test::RawAnswer;
using ws::test::RawRequest;

class Wire {
 public:
  explicit Wire(ApplicationOptions options = {});

  const BuiltIn& built_in() const { return application_->sandbox().built_in; }
  const std::string& token() const { return built_in().token; }
  /// Direct access, for what no call can do: removing a member.
  World& world() { return *application_->sandbox().world; }

  /// One request on a connection of its own.
  RawAnswer ask(const RawRequest& request);
  /// Bytes as they are.
  RawAnswer say(std::string_view bytes);
  /// The same with the key of every scope; the body as JSON.
  Json get(const std::string& target, int status = 200);
  RawAnswer send(const std::string& method,
                 const std::string& target,
                 const Json& body,
                 std::vector<std::string> headers = {});
  /// A control call; its answer as JSON.
  Json control(const std::string& method, const std::string& target, const Json& body = nullptr, int status = 200);
  /// Creates a key: see `POST /_mock/keys`.
  std::string key(const Json& wanted);
  void advance(int seconds);
  std::string new_document(const std::string& title, const std::string& content = "text");

 private:
  std::unique_ptr<Application> application_;
};

Json parse(const RawAnswer& answer);
/// The `code` of an error; empty if it has none.
std::string code_of(const RawAnswer& answer);

}  // namespace ws::mock::test
