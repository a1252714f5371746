/// One API request from route to response: route, credential, agent, scope and role, content type, validation,
/// idempotency record, service. `decisions.md`, "General", gives this order of checks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/contract/schema.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/pipeline/idempotency.hpp"
#include "server-mock/sandbox/sandbox.hpp"
#include "server-mock/services/files/files.hpp"

namespace ws::mock {

/// A response with what the journal records about it.
struct Reply {
  http::Response response = {};
  std::string_view operation = {};  ///< operation id; empty: no route
  /// Set if the request may wait for more; `response` is what it gets otherwise.
  std::optional<LongPoll> long_poll = {};
  std::string warning = {};  ///< unknown fields of the request
};

class Pipeline {
 public:
  Pipeline();

  /// The operation of a request, and its path parameters; null if there is none.
  const contract::Operation* find(const http::Request& request, http::Pairs& values) const;
  /// Exceptions of a service become a 500. Throws only if memory runs out.
  Reply handle(Sandbox& sandbox, const http::Request& request, std::string_view request_id) const;

 private:
  struct Route {
    const contract::Operation* operation = nullptr;
    Service service = nullptr;
    bool shows_secret = false;
  };
  struct Call;

  http::Response run(Call& call) const;
  static tl::expected<Answer, ApiError> answer(Call& call);
  static std::optional<ApiError> stranger_error(Call& call);
  static std::optional<ApiError> authorize(Call& call);
  static std::optional<ApiError> validate(Call& call);
  static ServiceCall service_call(const Call& call);
  static ServiceResult serve(Call& call);
  static ServiceResult serve_keyed(Call& call, std::string_view key);
  static ServiceResult replay(Call& call, const IdempotencyKey& key, StoredResponse&& kept);
  static http::Response finish(Call& call, Answer&& answer);
  static http::Response finish(Call& call, const ApiError& api_error);
  static http::Response finish_blob(Call& call, Answer&& answer);
  static http::Response begin_response(const Call& call, const Answer& answer);

  http::Router router_;
  std::vector<Route> routes_;
};

// PUT of bytes to an upload URL: the only API call outside `/v1`, and the only one that streams its request body.

/// The name in the journal and in fault rules; not an operation of the API.
inline constexpr std::string_view upload_operation = "upload.put";

/// Receives the body of a PUT to an upload URL, as long as `is_open` exists; null for every other request.
std::unique_ptr<http::BodySink> open_upload(Sandbox& sandbox,
                                            const http::Request& head,
                                            std::weak_ptr<const bool> is_open);
/// The response, once the sink has received the body.
Reply put_upload(Sandbox& sandbox, const http::Request& request, std::string_view request_id);

}  // namespace ws::mock
