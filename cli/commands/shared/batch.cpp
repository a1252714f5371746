#include "cli/commands/shared/batch.hpp"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/calls_ahead.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/output/failure.hpp"
#include "cli/output/members.hpp"

namespace ws::cli {
namespace {

bool concerns_all(Failure::Kind kind) {
  return kind == Failure::Kind::auth || kind == Failure::Kind::unreachable || kind == Failure::Kind::cancelled;
}

Failure not_sent(const Failure& reason, const contract::Operation& operation) {
  return {.kind = reason.kind,
          .what = "not sent: " + reason.what,
          // What checks the change that was cut off says nothing about this one.
          .hint = reason.call.applied == Applied::unknown ? std::string() : reason.hint,
          .call = {.operation = std::string(operation.id), .retryable = true}};
}

}  // namespace

Result<Batch> batch_of(Session& session, const contract::Operation& operation) {
  const std::string argument(operation.arguments.front().target);
  return batch_of(session, operation, [&](const std::string& id) {
    return Call{.operation = operation.id, .parameters = {{argument, id}}};
  });
}

Result<Batch> batch_of(Session& session,
                       const contract::Operation& operation,
                       const std::function<Call(const std::string& id)>& make) {
  WS_LET(const std::vector<GivenId> given, ids_of(session));
  WS_TRY(check_named_members(session, operation));
  Batch batch{.is_one = is_one(session, given)};
  for (const GivenId& each : given) {
    Call call = make(each.id);
    auto checked = each.refused ? Result<void>(fail(*each.refused)) : check_call(session, operation, call);
    if (!checked && batch.is_one) return fail(std::move(checked).error());
    call.validate = false;
    batch.ids.push_back(each.id);
    batch.calls.push_back(checked ? Result<Call>(std::move(call)) : fail(at_line(each, std::move(checked).error())));
  }
  return batch;
}

BatchRows::BatchRows(Session& session, const contract::Operation& operation, std::string_view shape)
    : session_(session), operation_(operation), shape_(shape), rows_(Json::array()) {}

bool BatchRows::streams() const { return session_.format() == Format::ndjson; }

void BatchRows::add_failure(const Failure& failure, const std::string& id) {
  has_failed_ = true;
  const bool is_shaped = session_.printer().is_shaped() || !session_.printer().fields().empty();
  if (!session_.has_json_errors()) return session_.note(id + ": " + failure.what);
  if (is_shaped) session_.print_failure(failure, exit_code_of(failure, session_.world().caught_signal()));
}

/// An answer that cannot be printed exactly fails its row alone where it was only read. After a change the whole
/// command fails, and tells what was made.
Result<void> BatchRows::check_row(const Result<Reply>& reply) const {
  const bool is_checked = reply && operation_.retry == contract::RetryClass::read && !session_.printer().is_shaped() &&
                          session_.printer().fields().empty() && session_.format() != Format::ids;
  return is_checked ? check_numbers(*reply->json, Numbers::of_64_bits) : Result<void>();
}

void BatchRows::add(const BatchItem& item) {
  const auto& [id, reply] = item;
  if (auto checked = check_row(reply); !checked) return add({id, fail(std::move(checked).error())});
  if (!reply) add_failure(reply.error(), id);
  if (reply) last_ = *reply->json;
  const bool is_shaped = session_.printer().is_shaped() || !session_.printer().fields().empty();
  Json row;
  if (is_shaped) {
    if (!reply) return;
    row = *reply->json;
  } else if (reply) {
    row = {{"ok", true}, {"id", id}, {"result", *reply->json}};
  } else {
    const ExitCode exit = exit_code_of(reply.error(), session_.world().caught_signal());
    row = {{"ok", false}, {"id", id}, {"error", failure_to_json(reply.error(), exit)}};
  }
  if (!streams()) {
    rows_->push_back(std::move(row));
  } else if (is_shaped) {
    session_.printer().each(operation_.id, Json::array({std::move(row)}));
  } else {
    session_.printer().item(row);
  }
}

ExitCode BatchRows::finish() {
  const ExitCode end = has_failed_ ? ExitCode::partial : ExitCode::done;
  // Once for all rows: it is flushed to the disk.
  if (!last_.is_null()) remember_answer(session_, operation_, *last_);
  if (streams()) return end;
  if (session_.printer().is_shaped() || !session_.printer().fields().empty()) {
    session_.printer().each(operation_.id, *rows_);
  } else if (session_.format() == Format::ids) {
    // An upload is named by its path, and what it made by the answer.
    for (const Json& row : *rows_) {
      if (!row["ok"].get<bool>()) continue;
      const std::string made = id_of(row["result"]);
      session_.printer().raw((made.empty() ? row["id"].get<std::string>() : made) + "\n");
    }
  } else {
    session_.printer().list(shape_, Json{{"data", std::move(*rows_)}}, {});
  }
  return end;
}

ExitCode print_batch(Session& session,
                     const contract::Operation& operation,
                     const std::vector<BatchItem>& items,
                     std::string_view shape) {
  BatchRows rows(session, operation, shape);
  for (const BatchItem& item : items) rows.add(item);
  return rows.finish();
}

Result<ExitCode> run_batch(Session& session, Client& client, const contract::Operation& operation, Batch batch) {
  if (batch.is_one) {
    WS_LET(const Reply reply, client.call(std::move(*batch.calls.front())));
    return print_reply(session, operation, reply);
  }
  BatchRows rows(session, operation);
  bool any_done = false;
  std::optional<Failure> stopped;
  // Changes are made one after the other: what stops one leaves the others unsent.
  const std::size_t at_a_time = operation.retry == contract::RetryClass::read ? reads_ahead : 1;
  CallsAhead calls(client);
  std::size_t next = 0;
  for (std::size_t i = 0; i < batch.calls.size(); ++i) {
    for (; next < batch.calls.size() && calls.size() < at_a_time && !stopped; ++next) {
      if (batch.calls[next]) calls.start(std::move(*batch.calls[next]));
    }
    Result<Reply> reply = fail(Failure{});
    if (!batch.calls[i]) {
      reply = fail(batch.calls[i].error());
    } else if (stopped) {
      reply = fail(not_sent(*stopped, operation));
    } else {
      reply = calls.take();
      if (!reply && concerns_all(reply.error().kind)) {
        if (!any_done) return fail(reply.error());
        stopped = reply.error();
      }
      any_done = any_done || reply;
    }
    rows.add({batch.ids[i], std::move(reply)});
  }
  const ExitCode exit = rows.finish();
  if (stopped && stopped->kind == Failure::Kind::cancelled) return fail(*stopped);
  return exit;
}

Result<ExitCode> print_requests(Session& session, const Batch& batch) {
  ExitCode exit = ExitCode::done;
  const bool is_one_document = (session.format() == Format::json || session.format() == Format::yaml) &&
                               !batch.is_one && !session.printer().is_shaped();
  Json rows = Json::array();
  for (std::size_t i = 0; i < batch.calls.size(); ++i) {
    if (!batch.calls[i]) {
      const Failure& failure = batch.calls[i].error();
      exit = ExitCode::partial;
      session.note(batch.ids[i] + ": " + failure.what);
      rows.push_back(
          {{"ok", false}, {"id", batch.ids[i]}, {"error", failure_to_json(failure, exit_code_of(failure, 0))}});
    } else if (is_one_document) {
      WS_LET(Json request, request_to_json(session, *batch.calls[i]));
      rows.push_back({{"ok", true}, {"id", batch.ids[i]}, {"result", std::move(request)}});
    } else {
      WS_TRY(print_request(session, *batch.calls[i]));
    }
  }
  if (is_one_document) session.printer().json({{"data", std::move(rows)}});
  return exit;
}

}  // namespace ws::cli
