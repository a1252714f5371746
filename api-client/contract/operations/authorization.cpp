// Source: API document v1, "Authorization and identity", "CLI authorization resources", "Authentication", "Limits".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Type scope_item = choice(requestable_scopes);
constexpr Field start_fields[] = {
    required("client_name", string(1, 100), "the name that the approving person sees"),
    required("cli_version", string(1, 40)),
    required("scopes", array_of(scope_item, 1, 12), "what the key may be used for"),
};
constexpr Schema start_request = {.name = "DeviceAuthorizationRequest", .fields = start_fields};

constexpr Field started_fields[] = {
    required("authorization_id", uuid()),
    secret("device_code", required("device_code", string(), "for the token operation; a secret")),
    secret("user_code", required("user_code", string(), "the code that the person compares or types")),
    required("verification_uri", string()),
    secret("verification_uri", required("verification_uri_complete", string(), "the same address with the code in it")),
    required("expires_in", integer(), "seconds (assumed unit)"),
    required("interval", integer(), "seconds between two polls (assumed unit)"),
};
constexpr Schema started = {.name = "DeviceAuthorization", .fields = started_fields};

constexpr Field token_fields[] = {
    secret("device_code", required("device_code", string(32, 200), "of the device authorization; a secret")),
};
constexpr Schema token_request = {.name = "DeviceTokenRequest", .fields = token_fields};

constexpr Field issued_fields[] = {
    secret("key", required("secret", string(), "the key; shown once")),
    required("key_id", uuid()),
    required("audience", choice(audience_values)),
    required("scopes", array_of(text_item)),
    nullable(required("expires_at", date_time())),
    required("created_at", date_time()),
    nullable(optional("workspace_id", uuid())),
    nullable(optional("workspace_name", string())),
};
constexpr Schema issued = {.name = "DeviceToken", .fields = issued_fields};
constexpr auto waiting_fields = all_assumed({required("status", string(), "authorization_pending or slow_down")});
constexpr Schema waiting = {.name = "DeviceWaiting", .fields = waiting_fields, .source = Source::assumed};

constexpr Field revoked_fields[] = {
    with_default(optional("ok", boolean()), "true"),
    required("key_id", uuid()),
    required("revoked_at", date_time()),
};
constexpr Schema revoked = {.name = "CredentialRevoked", .fields = revoked_fields};

constexpr auto user_fields = all_assumed({
    required("id", uuid()),
    required("email", string()),
    required("display_name", string()),
});
constexpr Schema user = {.name = "IdentityUser", .fields = user_fields, .source = Source::assumed};
constexpr auto agent_fields = all_assumed({required("id", uuid()), required("handle", string())});
constexpr Schema agent = {.name = "IdentityAgent", .fields = agent_fields, .source = Source::assumed};
constexpr auto workspace_fields = all_assumed({
    required("id", uuid()),
    required("name", string()),
    nullable(required("role", string(), "owner, admin, editor, commenter or viewer")),
});
constexpr Schema workspace = {.name = "IdentityWorkspace", .fields = workspace_fields, .source = Source::assumed};
constexpr auto credential_fields = all_assumed({
    required("key_id", uuid()),
    required("audience", choice(audience_values)),
    required("scopes", array_of(text_item)),
    nullable(required("expires_at", date_time())),
});
constexpr Schema credential = {.name = "IdentityCredential", .fields = credential_fields, .source = Source::assumed};
constexpr std::string_view identity_object[] = {"identity"};
constexpr auto identity_fields = all_assumed({
    with_default(optional("object", choice(identity_object)), "\"identity\""),
    nullable(required("user", object(user))),
    nullable(required("agent", object(agent))),
    nullable(required("workspace", object(workspace), "where a new object is made")),
    required("credential", object(credential)),
    links,
});
constexpr Schema identity = {.name = "Identity", .fields = identity_fields, .source = Source::assumed};

}  // namespace

constexpr Operation authorization_table[] = {
    {.id = "auth.start",
     .method = Method::post,
     .path = "/v1/auth/device-authorizations",
     .summary = "Start a login on a device",
     .request = &start_request,
     .responses = {{.status = 201, .schema = &started}},
     .auth = Auth::none,
     .retry = RetryClass::unsafe,
     .command = "auth login",
     .again = "a login that nobody approves expires by itself"},
    {.id = "auth.token",
     .method = Method::post,
     .path = "/v1/auth/device-token",
     .summary = "Get the key of an approved login",
     .request = &token_request,
     .responses = {{.schema = &issued}, {.status = 202, .schema = &waiting, .source = Source::assumed}},
     .auth = Auth::none,
     .retry = RetryClass::poll,
     .command = "auth login --resume",
     .errors = {"authorization_pending", "slow_down", "access_denied", "expired_token", "invalid_grant"}},
    {.id = "auth.revoke",
     .method = Method::post,
     .path = "/v1/auth/credentials/current:revoke",
     .summary = "Revoke the key that makes this call",
     .responses = {{.schema = &revoked}},
     .retry = RetryClass::repeatable,
     .command = "auth logout"},
    {.id = "me.get",
     .path = "/v1/me",
     .summary = "Show whose key this is and what it may do",
     .responses = {{.schema = &identity}},
     .command = "whoami"},
};
static_assert(well_formed(authorization_table));
constinit const Area authorization_operations = {"Authorization and identity", authorization_table};

}  // namespace ws::contract
