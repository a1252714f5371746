/// One request's way through the API: route, credential, agent, scope and role, content type, validation, idempotency
/// record, service, answer - in the order of checks that `decisions.md`, "General" gives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/contract/schema.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/pipeline/idempotency.hpp"
#include "server-mock/pipeline/input.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

/// An answer, and what the journal wants to know of it.
struct Reply {
  http::Response response = {};
  std::string_view operation = {};  ///< id of the table; empty: no route
  /// The caller would rather wait; `response` is what it gets if it does not.
  std::optional<Waiting> waiting = {};
  std::string warning = {};  ///< what the request held that nobody knows
};

class Pipeline {
 public:
  Pipeline();

  /// The operation that a request means, and the values of its path's places; null where there is none.
  const contract::Operation* find(const http::Request& request, http::Pairs& values) const;
  /// Never throws but for want of memory; what a service throws is a 500.
  Reply handle(Sandbox& sandbox, const http::Request& request, std::string_view request_id) const;

 private:
  struct Route {
    const contract::Operation* operation = nullptr;
    Service service = nullptr;
  };
  struct Call;

  http::Response run(Call& call) const;
  static tl::expected<Answer, Refusal> answer(Call& call);
  static std::optional<Refusal> authorize(Call& call);
  static std::optional<Refusal> validate(Call& call);
  static ServiceResult serve(Call& call);
  static ServiceResult serve_keyed(Call& call, std::string_view key);
  static ServiceResult replay(Call& call, const IdempotencyKey& key, KeptAnswer&& kept);
  static http::Response finish(Call& call, Answer&& answer);
  static http::Response finish(Call& call, const Refusal& refusal);
  static http::Response finish_blob(Call& call, Answer&& answer);
  static http::Response begin_response(const Call& call, const Answer& answer);

  http::Router router_;
  std::vector<Route> routes_;
};

}  // namespace ws::mock
