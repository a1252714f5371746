/// Reads a request by the operation table: typed parameters and body with defaults filled in, or all violations.
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
  JsonBox body = {};         ///< null if the operation has none
  std::string warning = {};  ///< ignored fields, for `X-Mock-Warning`
};

/// 415 if the body's content type is not JSON but the operation takes JSON.
std::optional<ApiError> check_content_type(const contract::Operation& operation, const http::Request& request);

/// 422 with all violations. `values` are the path parameters.
tl::expected<Input, ApiError> read_input(const contract::Operation& operation,
                                         const http::Request& request,
                                         const http::Pairs& values,
                                         UnknownFields unknown_fields);

}  // namespace ws::mock
