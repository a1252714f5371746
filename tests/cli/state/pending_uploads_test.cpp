#include "cli/state/pending_uploads.hpp"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/fake_transport.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::cli;
using test::TemporaryFolder;

namespace {

PendingUpload upload_of(int number) {
  return {.started = {.upload_id = fmt::format("018f6b2a-9c1d-7e3f-8a4b-{:012}", number),
                      .blob_name = "b",
                      .upload_url = "https://a.example/blob",
                      .state = UploadState::finishing},
          .file = {.path = fmt::format("/notes/{}.pdf", number), .file_name = "a.pdf"},
          .base_url = "https://a.example"};
}

std::size_t entries_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("pending uploads: many are recorded together, each in its own file", "[cli]") {
  const std::size_t count = GENERATE(1, 16, 40);
  const TemporaryFolder folder;
  const PendingUploads pending(folder.path());
  std::vector<PendingUpload> uploads;
  for (std::size_t i = 0; i < count; ++i) uploads.push_back(upload_of(static_cast<int>(i)));
  REQUIRE(pending.save_all(uploads));
  REQUIRE(pending.save_all(uploads));  // over those that are there
  CHECK(entries_in(folder / "uploads") == count);
  const auto listed = pending.list(test::FakeClock().now());
  REQUIRE(listed.size() == count);
  CHECK(std::ranges::all_of(listed,
                            [](const PendingUpload& one) { return one.started.state == UploadState::finishing; }));
  CHECK(pending.load(uploads.back().started.upload_id)->file.path == uploads.back().file.path);
  pending.forget(uploads.front().started.upload_id);
  CHECK(entries_in(folder / "uploads") == count - 1);
}

TEST_CASE("pending uploads: where one cannot be recorded nothing half is left", "[cli]") {
  const TemporaryFolder folder;
  const PendingUploads pending(folder.path());
  PendingUpload wrong = upload_of(2);
  wrong.started.upload_id = "../escape";
  CHECK(pending.save_all({upload_of(1), wrong}).error().kind == Failure::Kind::internal);
  CHECK(entries_in(folder / "uploads") == 0);
}
