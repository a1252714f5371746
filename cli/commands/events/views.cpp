// How agent events look on a terminal.
#include "cli/commands/events/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view claimed_by[] = {"events.claim"};
constexpr std::string_view claimed[] = {
    "Claimed the event {event.id}, {event.kind}",
};
constexpr Fact claimed_facts[] = {
    {"Lease", "ends {event.lease_expires_at:time}"},
    {"Attempt", "{event.attempt}"},
    {"Document", "{event.document_id}"},
    {"Thread", "{event.thread_id}"},
    {"Comment", "{event.payload.body}"},
    {"Created", "{event.created_at:time}"},
};
constexpr std::string_view renewed_by[] = {"events.renew"};
constexpr std::string_view renewed[] = {"Renewed the lease of {@event}[; it ends {lease_expires_at:time}]"};
constexpr std::string_view completed_by[] = {"events.complete"};
constexpr std::string_view completed[] = {"Completed the event {@event}"};
constexpr std::string_view failed_by[] = {"events.fail"};
constexpr std::string_view failed[] = {"Reported the event {@event} as failed[; it is {status:words}]"};

constexpr View views[] = {
    {.of = claimed_by, .lines = claimed, .facts = claimed_facts},
    {.of = renewed_by, .lines = renewed},
    {.of = completed_by, .lines = completed},
    {.of = failed_by, .lines = failed},
};

}  // namespace

std::span<const View> events_views() { return views; }

}  // namespace ws::cli
