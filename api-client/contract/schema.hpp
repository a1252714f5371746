/// The types in which the API is described: value types with limits, fields, parameters, operations.
///
/// The table itself (`operations/*.cpp`) is constant data of these types. Command line, client, the mock's routing and
/// validation, the OpenAPI document, help and machine-readable schemas are all derived from it, so a limit is corrected
/// in one place.
///
/// Every field and limit has a `Source`: `published` is stated in the API document, `assumed` is our decision where the
/// document says "not shown". The client rejects locally only what breaks a published limit, and never fails because an
/// assumed field is missing, null or different.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "api-client/base/small_list.hpp"

namespace ws::contract {

enum class Method { get, post, put, patch, del };
std::string_view name(Method method);  ///< "GET"

enum class Source { published, assumed };

enum class Kind {
  string,
  integer,
  number,
  boolean,
  uuid,
  date_time,
  choice,       ///< one of `values`
  array,        ///< of `items`
  object,       ///< with the fields of `object`
  free_object,  ///< any object
  text_map,     ///< an object whose values are strings
  any,
};

struct Schema;

/// The values that a field accepts. Limits are for code points of a string, the value of an integer, items of an array.
struct Type {
  Kind kind = Kind::any;
  std::optional<std::int64_t> min = {};
  std::optional<std::int64_t> max = {};
  std::optional<std::int64_t> max_bytes = {};  ///< of a string, as UTF-8
  std::span<const std::string_view> values = {};
  const Type* items = nullptr;
  const Schema* object = nullptr;
  Source limits = Source::published;
};

constexpr Type string() { return {.kind = Kind::string}; }
constexpr Type string(std::int64_t min, std::int64_t max) { return {.kind = Kind::string, .min = min, .max = max}; }
constexpr Type string_at_most(std::int64_t max) { return {.kind = Kind::string, .max = max}; }
constexpr Type bytes_at_most(std::int64_t max) { return {.kind = Kind::string, .max_bytes = max}; }
constexpr Type integer() { return {.kind = Kind::integer}; }
constexpr Type integer(std::int64_t min, std::int64_t max) { return {.kind = Kind::integer, .min = min, .max = max}; }
constexpr Type integer_at_least(std::int64_t min) { return {.kind = Kind::integer, .min = min}; }
constexpr Type number() { return {.kind = Kind::number}; }
constexpr Type boolean() { return {.kind = Kind::boolean}; }
constexpr Type uuid() { return {.kind = Kind::uuid}; }
constexpr Type date_time() { return {.kind = Kind::date_time}; }
constexpr Type choice(std::span<const std::string_view> values) { return {.kind = Kind::choice, .values = values}; }
constexpr Type array_of(const Type& items) { return {.kind = Kind::array, .items = &items}; }
constexpr Type array_of(const Type& items, std::int64_t min, std::int64_t max) {
  return {.kind = Kind::array, .min = min, .max = max, .items = &items};
}
constexpr Type object(const Schema& schema) { return {.kind = Kind::object, .object = &schema}; }
/// The type of the items of an array: a `Type` points to it, so it has static lifetime.
template <const Schema& schema>
inline constexpr Type item_of = object(schema);
constexpr Type free_object() { return {.kind = Kind::free_object}; }
constexpr Type text_map() { return {.kind = Kind::text_map}; }
/// The same type with its limits marked as assumed.
constexpr Type assumed(Type type) {
  type.limits = Source::assumed;
  return type;
}

enum class Presence { optional, required };
enum class Null { no, yes };

/// One member of an object, or one parameter.
struct Field {
  std::string_view name = {};
  Type type = {};
  Presence presence = Presence::optional;
  Null null = Null::no;
  std::string_view fallback = {};  ///< the default as JSON text: `50`, `"custom"`, `false`; empty: none
  Source source = Source::published;
  std::string_view help = {};  ///< half a sentence for help and OpenAPI, without a full stop
  /// The kind of secret that it holds, "key"; empty: none. Secrets are never logged or recorded (`secrets.hpp`).
  std::string_view secret = {};
};

/// A named object: a component of the OpenAPI document.
struct Schema {
  std::string_view name = {};  ///< "Agent"
  std::span<const Field> fields = {};
  Source source = Source::published;  ///< assumed: the API document shows none of its fields
  std::string_view help = {};
};

enum class In { path, query, header };
std::string_view name(In in);  ///< "path"

struct Parameter {
  In in = In::query;
  Field field = {};
};

/// The kind of a response body.
enum class Body { none, json, bytes };

struct Response {
  int status = 200;
  Body body = Body::json;
  const Schema* schema = nullptr;  ///< null with `json`: any object
  Source source = Source::published;
};

/// What the client may do if a call gets no usable response: the rows of the table in `cli.md`, "Retry classes".
enum class RetryClass { read, keyed, revision, sync, repeatable, lease, unsafe, poll };
std::string_view name(RetryClass retry);  ///< "read", "keyed", ...

enum class Auth { key, none };
enum class Idempotency { none, key };  ///< `key`: the operation accepts an `Idempotency-Key` header ("IK")
enum class Paging { none, limit_only, cursor };

/// The minimum role in the object's Workspace; each role includes the permissions of those before it.
enum class Role { none, viewer, commenter, editor, admin, owner };
std::string_view name(Role role);  ///< "viewer"; "none"
std::optional<Role> find_role(std::string_view name);

/// A positional argument of a command, which fills a parameter or a member of the body: `ws docs get ID`.
struct Argument {
  std::string_view placeholder = {};  ///< "ID", as help shows it
  std::string_view target = {};       ///< the parameter or body member it fills: "document_id"
  Presence presence = Presence::required;
};

/// One operation of the API.
struct Operation {
  std::string_view id = {};  ///< "docs.list": for `ws call`, OpenAPI `operationId`, journal, faults
  Method method = Method::get;
  std::string_view path = {};     ///< "/v1/documents/{document_id}"
  std::string_view summary = {};  ///< "List documents"
  std::span<const Parameter> parameters = {};
  const Schema* request = nullptr;        ///< the JSON body; null: none
  SmallList<Response, 2> responses = {};  ///< success responses; the first is the usual one
  Auth auth = Auth::key;
  std::string_view scope = {};  ///< empty: any valid key (assumed: `decisions.md`, "Credentials, roles, scopes")
  Role role = Role::none;       ///< likewise assumed
  Idempotency idempotency = Idempotency::none;
  Paging paging = Paging::none;
  RetryClass retry = RetryClass::read;
  std::string_view command = {};  ///< the primary command without "ws": "docs list"
  SmallList<Argument, 2> arguments = {};
  /// Codes of `errors.hpp` that only this operation returns, in addition to those common to its kind.
  SmallList<std::string_view, 5> errors = {};
  /// Of an operation whose effect no read shows: why it may be sent again after an unknown outcome, as half a
  /// sentence. Empty: it may not, or a read shows it.
  std::string_view again = {};
  /// The same where it may not be sent again: how its outcome is found, as half a sentence.
  std::string_view unseen = {};
};

}  // namespace ws::contract
