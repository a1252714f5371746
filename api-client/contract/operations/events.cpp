// Source: API document v1, "Agents and agent events", "Agent event claim response", "Events", "Limits".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter event_parameters[] = {in_path("event_id", uuid())};

constexpr Field lease_token = secret("lease_token", required("lease_token", string(20, 200), "of the claim; a secret"));
constexpr Field lease_seconds =
    with_default(optional("lease_seconds", integer(30, 900), "how long the event is held"), "300");

constexpr Field claim_fields[] = {
    required("worker_id", string(1, 120), "who takes the event"),
    lease_seconds,
    with_default(optional("wait_seconds", integer(0, 30), "how long to wait for an event"), "0"),
};
constexpr Schema claim_request = {.name = "AgentEventClaimRequest", .fields = claim_fields};
constexpr Field renew_fields[] = {lease_token, lease_seconds};
constexpr Schema renew_request = {.name = "AgentEventRenew", .fields = renew_fields};
constexpr Field complete_fields[] = {lease_token, required("result", free_object())};
constexpr Schema complete_request = {.name = "AgentEventComplete", .fields = complete_fields};
constexpr Field fail_fields[] = {
    lease_token,
    required("error", string(1, 4000)),
    with_default(optional("retryable", boolean(), "whether the event may be tried again"), "true"),
};
constexpr Schema fail_request = {.name = "AgentEventFail", .fields = fail_fields};

constexpr auto event_fields = all_assumed({
    required("id", uuid()),
    required("kind", string(), "comment.mention, comment.reply, document.shared or agent.ping"),
    required("workspace_id", uuid()),
    required("agent_id", uuid()),
    nullable(required("document_id", uuid())),
    nullable(required("thread_id", uuid())),
    nullable(required("comment_id", uuid())),
    required("payload", free_object()),
    required("attempt", integer()),
    optional("status", string(), "queued, leased, completed, failed or dead"),
    secret("lease_token", nullable(optional("lease_token", string(), "what renew, complete and fail need; a secret"))),
    nullable(optional("lease_expires_at", date_time())),
    required("created_at", date_time()),
});
constexpr Schema event = {.name = "AgentEvent", .fields = event_fields, .source = Source::assumed};
constexpr Field claimed_fields[] = {
    nullable(required("event", object(event), "null: none is waiting")),
    with_default(optional("retry_after_seconds", integer()), "5"),
};
constexpr Schema claimed = {.name = "AgentEventClaim", .fields = claimed_fields};

}  // namespace

// For the agent itself or the user who owns it; a role alone does not grant them.
constexpr Operation event_table[] = {
    {.id = "events.claim",
     .method = Method::post,
     .path = "/v1/agent-events:claim",
     .summary = "Claim the next agent event",
     .request = &claim_request,
     .responses = {{.schema = &claimed}},
     .scope = "agent_events:write",
     .retry = RetryClass::unsafe,
     .command = "events claim",
     .again = "an unused lease expires by itself"},
    {.id = "events.renew",
     .method = Method::post,
     .path = "/v1/agent-events/{event_id}:renew",
     .summary = "Hold a claimed event for longer",
     .parameters = event_parameters,
     .request = &renew_request,
     .responses = {{.schema = &event}},
     .scope = "agent_events:write",
     .retry = RetryClass::lease,
     .command = "events renew",
     .arguments = {{"EVENT", "event_id"}},
     .errors = {"lease_lost", "already_finished"}},
    {.id = "events.complete",
     .method = Method::post,
     .path = "/v1/agent-events/{event_id}:complete",
     .summary = "Complete a claimed event with its result",
     .parameters = event_parameters,
     .request = &complete_request,
     .responses = {{.schema = &event}},
     .scope = "agent_events:write",
     .retry = RetryClass::lease,
     .command = "events complete",
     .arguments = {{"EVENT", "event_id"}},
     .errors = {"lease_lost", "already_finished"}},
    {.id = "events.fail",
     .method = Method::post,
     .path = "/v1/agent-events/{event_id}:fail",
     .summary = "Give a claimed event back as failed",
     .parameters = event_parameters,
     .request = &fail_request,
     .responses = {{.schema = &event}},
     .scope = "agent_events:write",
     .retry = RetryClass::lease,
     .command = "events fail",
     .arguments = {{"EVENT", "event_id"}},
     .errors = {"lease_lost", "already_finished"}},
};
static_assert(well_formed(event_table));
constinit const Area event_operations = {"Agents and agent events", event_table};

}  // namespace ws::contract
