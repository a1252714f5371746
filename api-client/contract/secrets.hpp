/// Which parts of a message are secrets. The client's traces and errors, the mock's journal, traces and recordings all
/// ask here.
///
/// Members and parameters are marked where they are declared (`Field::secret`). This page adds what no schema declares:
/// headers, and members of free-form objects.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"

namespace ws::contract {

/// What is written in place of a secret.
inline constexpr std::string_view redacted = "[redacted]";
/// How every key begins.
inline constexpr std::string_view key_prefix = "wsk_";

/// The kind of secret that members and parameters of this name hold, with all that is nested in them: "lease_token".
/// Empty if the name is described and holds none. A name that no schema describes holds a `secret` if it says so:
/// "api_key", "password".
std::string_view secret_kind(std::string_view name);
/// Whether a schema or an operation describes a member or a parameter of this name.
bool is_described(std::string_view name);
/// Whether a value that no schema describes may be a key: it has the form of one, or looks random.
bool looks_like_key(std::string_view value);

/// Headers that hold credentials, in lower case.
std::span<const std::string_view> credential_headers();
/// Headers whose values may be written down, in lower case.
std::span<const std::string_view> shown_headers();
bool is_credential_header(std::string_view name);
bool is_shown_header(std::string_view name);
/// Whether the value of a header stays out of what is written: that of a credential, one with a key in it, and that of
/// a header that nobody describes if its name says so or the value looks like a key.
bool hides_header(std::string_view name, std::string_view value);

/// The part of a header's value that may be written down, if any of it may: of an address what is before its query.
std::string_view shown_part(std::string_view name, std::string_view value);

/// What is written in place of a secret.
using Replacement = std::function<std::string(std::string_view secret)>;
/// `redacted`.
std::string as_redacted(std::string_view secret);

/// The text with every key in it replaced. The first 12 characters of a key alone stay: that is the `display_prefix`,
/// which the API shows.
std::string redact_keys(std::string text, const Replacement& by = as_redacted);
/// "user_code=[redacted]&action=approve": of a query, or of a form.
std::string redact_pairs(std::string_view text, const Replacement& by = as_redacted);
/// Replaces the secrets among the members of a value, however deep, the keys within its texts, and what may be a key
/// where nobody describes the member.
void redact_members(Json& value, const Replacement& by = as_redacted);

/// Whether a member of the value, however deep, is a secret that it tells, or a text in it holds a key.
bool holds_secret(const Json& value);
/// Whether it is an entry of a 422 about a secret: its `input` repeats what was sent.
bool is_about_secret(const Json& value);

}  // namespace ws::contract
