#include "sync-engine/attachments/transfers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/media_type.hpp"
#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/survey/held_documents.hpp"

namespace ws::sync {
namespace {

constexpr std::chrono::milliseconds one_turn{500};

Failure changed_meanwhile(const RelativePath& path) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format("{} changed during the sync", path.text()),
          .hint = "run the same command again",
          .code = "changed_meanwhile"};
}

}  // namespace

bool ends_transfers(const Failure& failure) {
  const bool is_out_of_reach = failure.kind == Failure::Kind::unreachable && failure.code != cut_short;
  return failure.kind == Failure::Kind::auth || is_out_of_reach || failure.kind == Failure::Kind::rate_limited ||
         failure.kind == Failure::Kind::cancelled;
}

std::string Transfers::place_of(const Session& session, const Sha256& hash) {
  return (session.own("attachments") / hash.hex()).string();
}

void Transfers::send(WantedUpload upload) {
  const Sha256 hash = upload.hash;
  const std::uint64_t bytes = upload.stamp.size_bytes;
  if (!uploads_.emplace(hash, std::move(upload)).second) return;
  order_up_.push_back(hash);
  total_up_ += bytes;
}

void Transfers::fetch(const Attachment& file) {
  if (!downloads_.emplace(file.hash, file).second) return;
  order_down_.push_back(file.hash);
  total_down_ += file.size_bytes;
}

void Transfers::prove(const Attachment& file) { to_prove_.push_back(file); }

TransferOutcome Transfers::run() {
  while (true) {
    if (auto stopped = session_.check_cancelled(); !stopped && !outcome_.ended_by)
      outcome_.ended_by = std::move(stopped).error();
    begin_next();
    if (under_way_ == 0) break;
    assets_.run(one_turn);
  }
  return std::move(outcome_);
}

void Transfers::begin_next() {
  while (may_begin() && next_proof_ < to_prove_.size()) begin_proof(to_prove_[next_proof_++]);
  while (may_begin() && next_down_ < order_down_.size()) {
    const Sha256& hash = order_down_[next_down_++];
    if (may_fetch_) begin(downloads_.at(hash));
  }
  while (may_begin() && next_up_ < order_up_.size()) {
    const Sha256& hash = order_up_[next_up_++];
    if (refused_) {
      record_failure(*refused_, outcome_.not_uploaded, hash);
    } else {
      begin(uploads_.at(hash));
    }
  }
}

void Transfers::record_failure(Failure failure, std::map<Sha256, Failure>& among, const Sha256& hash) {
  if (ends_transfers(failure) && !outcome_.ended_by) outcome_.ended_by = failure;
  among.insert_or_assign(hash, std::move(failure));
}

Result<void> Transfers::prepare(const WantedUpload& upload, AssetUpload& asset) {
  WS_LET(asset.in_doubt, store_.find_upload(upload.hash));
  asset.sent = [this, hash = upload.hash](const std::optional<SentUpload>& sent) {
    return sent ? store_.put_upload(hash, *sent) : store_.drop_upload(hash);
  };
  return {};
}

void Transfers::begin(const WantedUpload& upload) {
  const auto file =
      std::make_shared<Descriptor>(session_.root.open_beneath(upload.disk, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  const bool is_same = *file && ::fstat(file->get(), &status) == 0 && S_ISREG(status.st_mode) &&
                       static_cast<std::uint64_t>(status.st_size) == upload.stamp.size_bytes &&
                       status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec == upload.stamp.modified_ns;
  if (!is_same) return record_failure(changed_meanwhile(upload.path), outcome_.not_uploaded, upload.hash);
  std::array<char, 4096> sample;
  const ssize_t got = read_some_at(file->get(), sample.data(), sample.size(), 0);
  AssetUpload asset{
      .file_name = std::string(upload.path.name()),
      .size_bytes = upload.stamp.size_bytes,
      .modified_ns = upload.stamp.modified_ns,
      .hash = upload.hash,
      .media_type = media_type_of(upload.path.name(), {sample.data(), got > 0 ? static_cast<std::size_t>(got) : 0}),
      .from = fmt::format("/proc/self/fd/{}", file->get())};
  asset.progress = [this, hash = upload.hash](std::uint64_t bytes) {
    bytes_up_[hash] = bytes;
    tell_progress();
  };
  if (auto ready = prepare(upload, asset); !ready) {
    return record_failure(std::move(ready).error(), outcome_.not_uploaded, upload.hash);
  }
  ++under_way_;
  // The descriptor stays open until the upload is over: its path leads through it.
  const auto kept = std::make_shared<AssetUpload>(asset);
  assets_.start(std::move(asset), [this, file, kept, &upload](Result<UploadedAsset> ended) {
    --under_way_;
    end(upload, *kept, std::move(ended));
  });
}

void Transfers::end(const WantedUpload& upload, AssetUpload& asset, Result<UploadedAsset> ended) {
  if (!ended) {
    Failure failure = std::move(ended).error();
    if (failure.kind == Failure::Kind::integrity) static_cast<void>(store_.drop_upload(upload.hash));
    if (failure.kind == Failure::Kind::forbidden) {
      // A key without the scope leaves files alone; one that may only read has changes that cannot be sent.
      if (failure.code != "missing_scope") failure = cannot_push(failure);
      refused_ = failure;
    }
    const std::size_t at = failure.what.find(asset.from);
    if (at != std::string::npos) failure.what.replace(at, asset.from.size(), upload.path.text());
    return record_failure(std::move(failure), outcome_.not_uploaded, upload.hash);
  }
  const Attachment done{
      .size_bytes = asset.size_bytes, .hash = upload.hash, .media_type = asset.media_type, .asset = ended->asset};
  const auto kept = [&]() -> Result<void> {
    WS_TRY(store_.put_asset(done));
    return store_.drop_upload(upload.hash);
  }();
  if (!kept) return record_failure(Failure(kept.error()), outcome_.not_uploaded, upload.hash);
  if (ended->was_in_doubt) outcome_.in_doubt.push_back(upload.path);
  outcome_.uploaded.emplace(upload.hash, done);
  done_up_ += asset.size_bytes;
  bytes_up_.erase(upload.hash);
  tell_progress();
}

void Transfers::begin(const Attachment& file) {
  AssetDownload download{
      .asset = file.asset, .size_bytes = file.size_bytes, .hash = file.hash, .to = place_of(session_, file.hash)};
  download.progress = [this, hash = file.hash](std::uint64_t bytes) {
    bytes_down_[hash] = bytes;
    tell_progress();
  };
  ++under_way_;
  assets_.start(std::move(download), [this, &file](Result<void> ended) {
    --under_way_;
    bytes_down_.erase(file.hash);
    if (!ended) {
      if (ended.error().kind == Failure::Kind::forbidden && ended.error().code == "missing_scope") may_fetch_ = false;
      return record_failure(std::move(ended).error(), outcome_.not_downloaded, file.hash);
    }
    static_cast<void>(store_.put_asset(file));
    done_down_ += file.size_bytes;
    tell_progress();
  });
}

void Transfers::begin_proof(const Attachment& file) {
  ++under_way_;
  assets_.start(file, [this, &file](Result<bool> ended) {
    --under_way_;
    if (!ended) {
      if (ends_transfers(ended.error()) && !outcome_.ended_by) outcome_.ended_by = std::move(ended).error();
      return;
    }
    if (!*ended) return;
    outcome_.proven.insert(file.hash);
    // To be asked once. Where it cannot be kept, it is asked again.
    static_cast<void>(store_.put_asset(file));
  });
}

void Transfers::tell_progress() {
  const auto sum = [](const std::map<Sha256, std::uint64_t>& parts) {
    std::uint64_t bytes = 0;
    for (const auto& [hash, count] : parts) bytes += count;
    return bytes;
  };
  if (total_up_ > 0) session_.progress(Stage::upload, std::min(total_up_, done_up_ + sum(bytes_up_)), total_up_);
  if (total_down_ > 0) {
    session_.progress(Stage::download, std::min(total_down_, done_down_ + sum(bytes_down_)), total_down_);
  }
}

namespace {

/// The Asset that holds them; empty: none is known. The one that held the bytes of this path may be another client's.
Result<std::optional<Attachment>> find_holder(AttachmentStore& store, const RelativePath& path, const Sha256& hash) {
  WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
  for (const AttachmentVersion& version : versions) {
    if (version.file && version.file->hash == hash && !version.file->asset.empty()) return version.file;
  }
  return store.find_asset(hash);
}

Failure bytes_need_service() {
  return {.kind = Failure::Kind::usage,
          .what = "this cannot be done without the service",
          .hint = "run `ws login`",
          .code = "needs_service"};
}

/// Nothing was changed yet: a network that fails, and a service that does for the first time, may be back for the same
/// command again. What the service refuses once more stops nothing else.
Result<void> end_on_first_failure(AttachmentStore& store, const TransferOutcome& outcome) {
  WS_LET(const auto failed_before, store.failed());
  std::optional<Failure> first;
  for (const auto& [hash, why] : outcome.not_downloaded) {
    if (why.kind == Failure::Kind::unreachable) return fail(Failure(why));
    if (why.kind != Failure::Kind::service || failed_before.contains(hash)) continue;
    WS_TRY(store.put_failed(hash, {.times = 1, .failure = why}));
    first = why;
  }
  return first ? fail(std::move(*first)) : Result<void>();
}

}  // namespace

Result<void> bring_bytes(Session& session, const Attachment& file) {
  AttachmentStore store = session.attachments();
  WS_LET(const StagingFolder kept, StagingFolder::open(session.root, attachments_folder));
  if (kept.has(file.hash.hex(), file.hash)) return {};
  if (session.assets() == nullptr) return fail(bytes_need_service());
  WS_LET(const auto known, file.asset.empty() ? store.find_asset(file.hash) : Result<std::optional<Attachment>>(file));
  if (!known) return fail(Failure::Kind::not_found, "these bytes are neither here nor on the service");
  Transfers transfers(session, store, *session.assets());
  transfers.fetch(*known);
  TransferOutcome outcome = transfers.run();
  const auto why = outcome.not_downloaded.find(file.hash);
  if (why != outcome.not_downloaded.end()) return fail(std::move(why->second));
  return outcome.ended_by ? fail(std::move(*outcome.ended_by)) : Result<void>();
}

Result<std::vector<LeftAlone>> prepare_bytes(Session& session, std::vector<FileStep>& steps) {
  std::vector<LeftAlone> left;
  const auto is_meant = [](const FileStep& step) { return step.is_about_bytes() && step.side != StepSide::service; };
  if (std::ranges::none_of(steps, is_meant)) return left;
  AttachmentStore store = session.attachments();
  WS_LET(SafeWriter kept, SafeWriter::open(session.root, attachments_folder));
  std::map<Sha256, Attachment> wanted;
  std::set<Sha256> unknown;
  for (const FileStep& step : steps) {
    if (!is_meant(step) || !step.to || kept.has(step.result->hex(), *step.result)) continue;
    if (session.assets() == nullptr) return fail(bytes_need_service());
    WS_LET(const auto holder, find_holder(store, *step.to, *step.result));
    holder ? void(wanted.emplace(*step.result, *holder)) : void(unknown.insert(*step.result));
  }
  TransferOutcome outcome;
  if (!wanted.empty()) {
    Transfers transfers(session, store, *session.assets());
    for (const auto& [hash, file] : wanted) transfers.fetch(file);
    outcome = transfers.run();
    if (outcome.ended_by) return fail(std::move(*outcome.ended_by));
    WS_TRY(end_on_first_failure(store, outcome));
  }
  std::vector<FileStep> ready;
  for (FileStep& step : steps) {
    const auto leave = [&](std::string_view why) {
      left.push_back({.path = step.to ? *step.to : *step.from, .why = std::string(why)});
    };
    const bool comes = is_meant(step) && step.to;
    if (comes && unknown.contains(*step.result)) {
      leave("its bytes are neither here nor on the service");
      continue;
    }
    if (comes && outcome.not_downloaded.contains(*step.result)) {
      leave("its bytes could not be fetched");
      continue;
    }
    if (is_meant(step) && step.from) {
      WS_LET(const auto known, store.find_asset(*step.seen));
      WS_LET(const RelativePath disk, spelled_here(session, store, *step.from));
      if (const auto backed_up = ensure_backup(session, kept, disk, *step.seen, known); !backed_up) {
        const Failure& why = backed_up.error();
        if (why.kind != Failure::Kind::disk && ends_everything(why)) return fail(Failure(why));
        leave(why.kind == Failure::Kind::disk ? "it could not be written" : "changed since");
        continue;
      }
    }
    ready.push_back(std::move(step));
  }
  steps = std::move(ready);
  return left;
}

}  // namespace ws::sync
