/// What a request asks for, read by the table: typed parameters and body, defaults filled in - or every violation.
#pragma once

#include <optional>
#include <string>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Input {
  JsonBox parameters = {};   ///< object
  JsonBox body = {};         ///< null where the operation has none
  std::string warning = {};  ///< what was ignored: for `X-Mock-Warning`
};

/// 415: a body that says it is something other than JSON, where JSON belongs.
std::optional<Refusal> check_content_type(const contract::Operation& operation, const http::Request& request);

/// 422 with all violations together. `values` are those of the path.
tl::expected<Input, Refusal> read_input(const contract::Operation& operation,
                                        const http::Request& request,
                                        const http::Pairs& values,
                                        Unknown unknown_fields);

}  // namespace ws::mock
