#include "sync-engine/changes/move_order.hpp"

#include <deque>
#include <map>
#include <string>

#include "sync-engine/reconcile/overlapping_paths.hpp"

namespace ws::sync {
namespace {

class MoveOrder {
 public:
  explicit MoveOrder(const std::vector<PlannedMove>& moves) : nodes_(moves.size()) {
    std::multimap<std::string, std::size_t> leaving;
    for (std::size_t i = 0; i < moves.size(); ++i) leaving.emplace(moves[i].from.twin_key(), i);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      visit_overlapping(leaving, moves[i].to.twin_key(), [&](const auto& other) {
        if (other->second == i) return;
        nodes_[i].blockers.push_back(other->second);
        ++nodes_[i].blocked_by;
        nodes_[other->second].blocks.push_back(i);
      });
      if (nodes_[i].blocked_by == 0) free_.push_back(i);
    }
  }

  bool has_free() const { return !free_.empty(); }
  std::size_t take_free() {
    const std::size_t next = free_.front();
    free_.pop_front();
    nodes_[next].is_done = true;
    release(next);
    return next;
  }

  /// One of a circle, where none is free; the number of moves: all are done.
  std::size_t find_in_circle() {
    while (first_ < nodes_.size() && nodes_[first_].is_done) ++first_;
    if (first_ == nodes_.size()) return first_;
    std::vector<bool> met(nodes_.size());
    std::size_t at = first_;
    while (!met[at]) {
      met[at] = true;
      for (const std::size_t blocker : nodes_[at].blockers) {
        if (!nodes_[blocker].is_released) at = blocker;
      }
    }
    return at;
  }

  /// Its place is free from now on, or will not be.
  void release(std::size_t move) {
    if (nodes_[move].is_released) return;
    nodes_[move].is_released = true;
    for (const std::size_t waiting : nodes_[move].blocks) {
      if (--nodes_[waiting].blocked_by == 0 && !nodes_[waiting].is_done) free_.push_back(waiting);
    }
  }

 private:
  struct Node {
    std::vector<std::size_t> blockers = {};  ///< that leave what it takes
    std::vector<std::size_t> blocks = {};
    std::size_t blocked_by = 0;
    bool is_released = false;
    bool is_done = false;
  };
  std::vector<Node> nodes_;
  std::deque<std::size_t> free_ = {};
  std::size_t first_ = 0;  ///< all before it are done
};

}  // namespace

Result<void> move_in_order(const std::vector<PlannedMove>& moves,
                           const std::function<Result<void>(std::size_t move)>& move,
                           const std::function<bool(std::size_t move)>& step_aside) {
  MoveOrder order(moves);
  while (true) {
    while (order.has_free()) WS_TRY(move(order.take_free()));
    const std::size_t one = order.find_in_circle();
    if (one == moves.size()) return {};
    // Where it cannot, the others find its place taken, and say so.
    static_cast<void>(step_aside(one));
    order.release(one);
  }
}

}  // namespace ws::sync
