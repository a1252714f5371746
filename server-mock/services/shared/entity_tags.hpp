/// Entity tags (RFC 9110, 8.8.3) and the preconditions that name them.
///
/// An answer that is sent compressed has a tag of its own: that of the plain one with "-gzip" before the last quote. In
/// a precondition it stands for the same state of the object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server-mock/services/shared/errors.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// The `ETag` of a document: it changes with everything that reading the document shows.
std::string document_etag(const World& world, const Document& document);

/// `If-None-Match` (13.1.2): the tag of the list that stands for the same state as `etag`, weak or not; `etag` itself
/// for `*`. Empty if there is none.
std::optional<std::string_view> find_match(std::string_view list, std::string_view etag);

/// 412 `precondition_failed` unless `If-Match` (13.1.1) is missing, `*`, or names the tag; a weak one names nothing.
ApiResult<void> require_match(const ServiceCall& call, std::string_view etag);

}  // namespace ws::mock
