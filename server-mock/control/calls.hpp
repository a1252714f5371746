/// Every control call by itself: a function of the sandbox, the path's places, the query and the body.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/complaints.hpp"
#include "server-mock/control/worlds.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox.hpp"
#include "server-mock/services/service.hpp"

namespace ws::mock::control {

struct Call {
  Sandbox& sandbox;
  const http::Pairs& path;
  const http::Pairs& query;
  const Json& body;          ///< null where none was sent
  Worlds* worlds = nullptr;  ///< null within a sandbox
};
using Handler = ServiceResult (*)(Call& call);

ServiceResult get_health(Call& call);
/// `{to: "seed" | "empty" | NAME}`; NAME is a snapshot's.
ServiceResult reset(Call& call);

ServiceResult get_snapshots(Call& call);
ServiceResult get_snapshot(Call& call);
/// `{name}`, or the name in the path: in place of the one of that name.
ServiceResult take_snapshot(Call& call);
ServiceResult take_named_snapshot(Call& call);
ServiceResult restore_snapshot(Call& call);
ServiceResult delete_snapshots(Call& call);
ServiceResult delete_snapshot(Call& call);

/// What the inspector shows: `{clock, now, sandbox, base_url, last_seq, documents, threads, events, people}`, each list
/// `{total, data}`; and a document's revisions with their text, the latest first.
ServiceResult inspect(Call& call);
ServiceResult inspect_document(Call& call);

/// `{assumptions, clock, tables, v}`
ServiceResult get_state(Call& call);
ServiceResult put_state(Call& call);

/// `{clock, now}`
Json clock_of(const Sandbox& sandbox);
ServiceResult get_clock(Call& call);
/// `{clock: "real" | "frozen:TIME" | "offset:+2h"}`, or `{frozen: TIME}`, `{offset: "+2h"}`, `{real: true}`; the text
/// alone, too. `{frozen: true}` stops the clock where it is.
ServiceResult put_clock(Call& call);
/// `{seconds}`, or `{by: "2h"}`. While somebody waits it goes step by step: `Sandbox::advance`.
ServiceResult advance_clock(Call& call);

ServiceResult get_faults(Call& call);
ServiceResult get_fault(Call& call);
/// One rule, a list of them, or `{faults: [...]}`: all or none.
ServiceResult add_faults(Call& call);
/// In place of the rule of that id, if there is one.
ServiceResult put_fault(Call& call);
ServiceResult turn_fault_on(Call& call);
ServiceResult turn_fault_off(Call& call);
ServiceResult delete_faults(Call& call);
ServiceResult delete_fault(Call& call);

/// `{agent, kind?, payload?, document_id?, thread_id?, comment_id?}`; the agent by id or handle.
ServiceResult create_event(Call& call);

/// `?operation=&since=&wait=`; `since` is a `seq` or a time. Where there is nothing it waits up to `wait` seconds (real
/// ones, at most 60) for a request.
ServiceResult get_requests(Call& call);
ServiceResult delete_requests(Call& call);
/// Those that met no operation, or that a 404 of the path or a 405 answered, each with the nearest operations.
ServiceResult get_unmatched(Call& call);
/// `{match: {operation, path, status, query, headers, body}, times | min, max, in_order}`; see control/verify.hpp.
ServiceResult verify_requests(Call& call);

/// `{person?, agent?, audience?, workspace?, scopes?, role?, expires_in?, expires_at?}`; people by id or email
/// (`user_id`, `email` too), agents by id or handle (`agent_id`, `handle`), Workspaces by id or name (`workspace_id`).
/// `role` is the most that the key grants; its owner may have more.
ServiceResult create_key(Call& call);
/// Each of `scopes` is one of the API's.
void check_scopes(const Json& body, Complaints& complaints);
ServiceResult revoke_key(Call& call);
ServiceResult expire_key(Call& call);

ServiceResult get_devices(Call& call);
/// `{user_id?, workspace_id?}`; without them the first person, in the first of their Workspaces.
ServiceResult approve_device(Call& call);
ServiceResult deny_device(Call& call);
ServiceResult expire_device(Call& call);

/// Within a sandbox these three are 404. POST takes `{fixtures?}`: an object, the text of a file, "seed" or "empty".
ServiceResult get_sandboxes(Call& call);
ServiceResult open_sandbox(Call& call);
ServiceResult close_sandbox(Call& call);

ServiceResult get_assumptions(Call& call);
/// `{key: value, ...}`: all or none.
ServiceResult patch_assumptions(Call& call);

}  // namespace ws::mock::control
