/// Bytes up and down: some at a time, each content once, and each failure the matter of its own file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/remote/assets.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/operations.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {

inline constexpr std::size_t transfers_at_a_time = 4;

struct WantedUpload {
  RelativePath path;
  std::string disk = {};  ///< the file's name here
  FileStamp stamp = {};   ///< when it was hashed
  Sha256 hash = {};
};

struct TransferOutcome {
  std::map<Sha256, Attachment> uploaded = {};
  std::map<Sha256, Failure> not_uploaded = {};
  std::map<Sha256, Failure> not_downloaded = {};
  std::set<Sha256> proven = {};             ///< an Asset is known to hold them
  std::vector<RelativePath> in_doubt = {};  ///< sent again though an earlier upload may have become an Asset
  std::optional<Failure> ended_by = {};     ///< nothing was begun after it: no key, no network, a signal
};

/// Whether the next file fares no better: no key, no network, a signal. A download that was cut is its own matter.
bool ends_transfers(const Failure& failure);

/// Which bytes go where. Those that are known to the service are not sent; downloads end in `.ws/attachments/HASH`,
/// checked and flushed. Every finished upload is in the store before the next begins.
class Transfers {
 public:
  Transfers(Session& session, AttachmentStore& store, Assets& assets)
      : session_(session), store_(store), assets_(assets) {}

  void send(WantedUpload upload);
  void fetch(const Attachment& file);
  /// Asks whether its Asset holds what it is said to. Before anything else.
  void prove(const Attachment& file);
  TransferOutcome run();

  /// Whether the own folder has these bytes, whole.
  static std::string place_of(const Session& session, const Sha256& hash);

 private:
  bool may_begin() const { return under_way_ < transfers_at_a_time && !outcome_.ended_by; }
  void begin_next();
  void begin(const WantedUpload& upload);
  void begin(const Attachment& file);
  void begin_proof(const Attachment& file);
  Result<void> prepare(const WantedUpload& upload, AssetUpload& asset);
  void end(const WantedUpload& upload, AssetUpload& asset, Result<UploadedAsset> ended);
  void record_failure(Failure failure, std::map<Sha256, Failure>& among, const Sha256& hash);
  void tell_progress();

  Session& session_;
  AttachmentStore& store_;
  Assets& assets_;
  std::map<Sha256, WantedUpload> uploads_;
  std::map<Sha256, Attachment> downloads_;
  std::vector<Attachment> to_prove_;
  std::size_t next_proof_ = 0;
  std::vector<Sha256> order_up_;
  std::vector<Sha256> order_down_;
  std::size_t next_up_ = 0;
  std::size_t next_down_ = 0;
  std::size_t under_way_ = 0;
  std::optional<Failure> refused_ = {};  ///< no upload is begun after it
  bool may_fetch_ = true;
  std::map<Sha256, std::uint64_t> bytes_up_;
  std::map<Sha256, std::uint64_t> bytes_down_;
  std::uint64_t total_up_ = 0;
  std::uint64_t total_down_ = 0;
  std::uint64_t done_up_ = 0;
  std::uint64_t done_down_ = 0;
  TransferOutcome outcome_;
};

/// Brings the bytes into `.ws/attachments`, under the name of their hash, where they are not there yet. Fails with
/// `not_found`, with `usage` and the code `needs_service` where there is no service to ask, or as a download does.
Result<void> bring_bytes(Session& session, const Attachment& file);

/// Before any of the steps is journalled: brings the bytes that they put in their places here, and keeps those that
/// they replace or remove. Takes out the steps for which that cannot be done, and answers them. Fails with the code
/// `needs_service`, or with what ends all transfers.
Result<std::vector<LeftAlone>> prepare_bytes(Session& session, std::vector<FileStep>& steps);

}  // namespace ws::sync
