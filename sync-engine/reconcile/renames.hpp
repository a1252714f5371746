/// Rename detection: which known documents have another path on disk now. Pure but for the texts that it reads.
///
/// In this order (`sync.md`, "Moves"): the file's inode number, confirmed by its birth time or by its text (the number
/// of a file that is gone may belong to another by now); else an equal text, the one that this program wrote last
/// before that of the base, where exactly one document and one file have it, or where the names tell which is which;
/// else at least 60 % of the lines, where exactly one document and one file are that much alike. What is ambiguous is
/// no move.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sync-engine/model/found_files.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// Evidence of a rename. Read only where a document is missing and a file is new.
struct RenameEvidence {
  std::function<std::map<DocumentId, FileId>()> files = {};         ///< of the documents, when both sides last agreed
  std::function<std::map<DocumentId, WrittenFile>()> written = {};  ///< what this program wrote for them since
  std::function<std::optional<std::string>(const DocumentId&)> base_text = {};
  std::function<std::optional<std::string>(const RelativePath&)> file_text = {};
};

/// Whether a file that was found is the one that this program wrote, whatever its name is now.
bool is_written_file(const WrittenFile& written, const FoundFile& found);

using RenamedDocuments = std::vector<std::pair<DocumentId, const FoundFile*>>;

/// Documents whose file was moved, told by its number and birth time, whatever was edited: to a free name, or in a
/// chain or circle to the name of another that moved too. Where no birth time is known the text must be the base's.
/// `files` are those that are not what the base has at their path; `missing` the documents of which there is no file at
/// their path.
RenamedDocuments moved_files(const BaseTree& base,
                             const std::vector<DocumentId>& missing,
                             const std::vector<const FoundFile*>& files,
                             const RenameEvidence& evidence);

/// Of the documents in `missing`, those that are among the files of `created`.
RenamedDocuments alike_files(const BaseTree& base,
                             const std::vector<DocumentId>& missing,
                             const std::vector<const FoundFile*>& created,
                             const RenameEvidence& evidence);

/// The lines of a text without blank ones and without the blanks at their ends, as sorted numbers; a line that stands
/// twice is there twice.
class LineProfile {
 public:
  LineProfile() = default;
  explicit LineProfile(std::string_view text);
  const std::vector<std::uint64_t>& lines() const { return lines_; }

 private:
  std::vector<std::uint64_t> lines_;
};

/// At least 60 % of the lines of the longer one stand in both. Texts without a line are like nothing.
bool is_similar(const LineProfile& a, const LineProfile& b);

}  // namespace ws::sync
