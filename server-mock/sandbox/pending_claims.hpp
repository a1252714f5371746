/// Who waits for an agent event, and who is to look again: without timers or sockets, by the world's clock.
///
/// A call whose answer came with `Waiting` enters and gets a ticket. The transport serves the call of every ticket that
/// `take_ready` hands out once more, from the credential on, so that a key revoked meanwhile waits no longer. If the
/// answer still says `Waiting`, and the ticket is not over, it stays; any other answer is sent, and it leaves. So does
/// a client that goes away.
///
/// `take_ready` is asked, until it is empty, after every served call, after every move of the clock, and at `next_due`.
/// Those who wait for the same look one after the other, first come first: where one finds nothing the next would
/// find nothing either. So an event costs two looks, however many wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

class WaitingRoom {
 public:
  using Ticket = std::uint64_t;
  struct Ready {
    Ticket ticket = 0;
    bool is_over = false;  ///< has waited as long as it wanted: it looks once more, and leaves with what it finds
    bool operator==(const Ready&) const = default;
  };

  Ticket enter(const Waiting& waiting, std::int64_t now);
  /// It looked and found nothing; `look_again_at` as the answer said. The end stays what it was.
  void stay(Ticket ticket, std::optional<std::int64_t> look_again_at);
  void leave(Ticket ticket);
  /// What they waited for is gone: each looks once more and leaves.
  void end_all();

  /// For `World::on_wake`: only takes note.
  void wake(const Wake& wake);
  /// Who is to look now. Each stays or leaves before this is asked again.
  std::vector<Ready> take_ready(std::int64_t now);
  /// When somebody is to look should nothing else happen; empty: nobody waits.
  std::optional<std::int64_t> next_due() const;
  std::size_t size() const { return guests_.size(); }
  /// When the next of them has waited long enough, later than `after`; and who has by exactly that time.
  std::optional<std::int64_t> next_end(std::int64_t after) const;
  std::vector<Ticket> ending_at(std::int64_t time) const;

 private:
  struct Guest {
    const std::string* topic = nullptr;  // the key in `topics_`, which is there as long as the guest is
    std::int64_t ends_at = 0;
    bool is_looking = false;
  };
  /// Those who wait for the same: what one finds the next could have found.
  struct Topic {
    std::set<Ticket> tickets = {};
    std::optional<std::int64_t> due_at = {};
  };
  void schedule(const std::string& name, std::optional<std::int64_t> due_at);
  void make_ready(const std::string& name);

  Ticket next_ = 1;
  std::map<Ticket, Guest> guests_ = {};
  std::map<std::string, Topic> topics_ = {};
  std::set<std::string> ready_ = {};
  std::set<std::pair<std::int64_t, std::string>> by_due_ = {};
  std::set<std::pair<std::int64_t, Ticket>> by_end_ = {};
};

}  // namespace ws::mock
