#include "sync-engine/model/document_id.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

using ws::sync::DocumentId;

TEST_CASE("document id: every spelling comes back as it was, and is an id of its own", "[sync-engine]") {
  const std::string lower = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";
  const std::string upper = "018F6B2A-9C1D-7E3F-8A4B-5C6D7E8F9A0B";
  const std::string mixed = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0B";
  std::set<DocumentId> ids;
  for (const std::string& text : {lower, upper, mixed, std::string("d1"), std::string("a.md"), std::string(16, 'x')}) {
    const DocumentId id(text);
    CHECK(id.text() == text);
    CHECK_FALSE(id.empty());
    CHECK(id == DocumentId(text));
    CHECK(ids.insert(id).second);
  }
}

TEST_CASE("document id: what is none is empty", "[sync-engine]") {
  CHECK(DocumentId().empty());
  for (const std::string& text : {std::string(),
                                  std::string(17, 'x'),
                                  std::string("a\0b", 3),
                                  std::string("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0"),
                                  std::string("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0g")}) {
    CHECK(DocumentId(text).empty());
    CHECK(DocumentId(text).text().empty());
  }
}

TEST_CASE("document id: they are in the order of their digits", "[sync-engine]") {
  CHECK(DocumentId("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b") < DocumentId("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0c"));
  CHECK(DocumentId("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0B") < DocumentId("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0c"));
  CHECK(DocumentId("a.md") < DocumentId("b"));
  CHECK(DocumentId("a") < DocumentId("a.md"));
}
