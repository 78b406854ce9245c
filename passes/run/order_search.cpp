#include "passes/run/order_search.h"

#include <algorithm>
#include <ranges>

namespace mscclc::passes::proof {

bool OrderSearch::known(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation) {
  keepWithin();
  const std::uint32_t launch = logs_.launchesBegun(block, phase);
  const std::uint32_t rank = index_.rankOf(view.block);
  if (view.next) { // knowledge that takes effect later must not be stored as current knowledge
    Search once = begin(view.block, rank, launch, relation);
    open(once, view.block, once.own = view.length);
    return find(once, block, phase);
  }
  if (knownAtBegin(block, phase, rank, relation))
    return true;
  Search &search = searchOf(view.block, launch, relation);
  const std::uint64_t had = search.bytes;
  open(search, view.block, search.own = view.length);
  const bool found = find(search, block, phase);
  bytes_ += search.bytes - had;
  if (found)
    return true;
  return !view.besides.empty() && find(withBesides(view, search), block, phase);
}

/// Forgets all searches if they exceed `mostBytes`.
void OrderSearch::keepWithin() {
  if (bytes_ <= mostBytes)
    return;
  searches_.clear();
  besides_ = {};
  bytes_ = 0;
}

bool OrderSearch::knownAtBegin(std::uint32_t block, std::uint32_t phase, std::uint32_t rank, Relation relation) {
  keepWithin();
  const std::uint32_t launch = logs_.launchesBegun(block, phase);
  const std::uint32_t begun = logs_.numLaunches();
  const std::uint32_t meeting = launch < begun ? logs_.meeting(begun - 1, rank) : none;
  if (meeting == none)
    return false;
  Search &search = searchOf(index_.numBlocks() + rank, launch, relation);
  const std::uint64_t had = search.bytes;
  open(search, meeting, 0);
  const bool found = find(search, block, phase);
  bytes_ += search.bytes - had;
  return found;
}

OrderSearch::Search OrderSearch::begin(std::uint32_t block, std::uint32_t rank, std::uint32_t launch,
                                       Relation relation) const {
  Search search;
  search.launch = launch;
  search.block = block;
  search.rank = rank;
  search.relation = relation;
  search.pages.resize(index_.numBlocks() / pageSize + 1);
  search.bytes = sizeof search + search.pages.size() * sizeof search.pages[0];
  return search;
}

OrderSearch::Search &OrderSearch::searchOf(std::uint32_t asks, std::uint32_t launch, Relation relation) {
  const auto it = searches_.find(key(asks, launch, relation));
  if (it != searches_.end())
    return it->second;
  const bool isBlock = asks < index_.numBlocks();
  Search made = isBlock ? begin(asks, index_.rankOf(asks), launch, relation)
                        : begin(none, asks - index_.numBlocks(), launch, relation);
  bytes_ += made.bytes;
  return searches_.emplace(key(asks, launch, relation), std::move(made)).first->second;
}

/// Returns the search `below`, extended by the additional knowledge of `view`. `below` must be complete. The last
/// result is kept, because the questions of one operation follow each other.
OrderSearch::Search &OrderSearch::withBesides(const View &view, const Search &below) {
  if (besides_.below == &below && besidesView_.length == view.length &&
      std::ranges::equal(besidesClocks_, view.besides))
    return besides_;
  besides_ = begin(view.block, below.rank, below.launch, below.relation);
  besides_.below = &below;
  besides_.pages = below.pages;
  besides_.nodes = below.nodes;
  besidesView_ = view;
  besidesClocks_.assign(view.besides.begin(), view.besides.end());
  for (const MessageClock &clock : view.besides)
    look(besides_, clock, true);
  return besides_;
}

OrderSearch::Reach &OrderSearch::reachOf(Search &search, std::uint32_t block) {
  auto &page = search.pages[block / pageSize];
  if (!page) {
    search.bytes += sizeof(Page);
    page = std::make_shared<Page>();
    if (search.launch != 0) { // messages from before the launch say nothing about it
      const std::uint32_t first = block / pageSize * pageSize;
      for (std::uint32_t b = first; b < std::min(first + pageSize, index_.numBlocks()); ++b)
        (*page)[b - first].length = logs_.begin(search.launch - 1, b).length;
    }
  } else if (page.use_count() != 1) {
    search.bytes += sizeof(Page);
    page = std::make_shared<Page>(*page);
  }
  return (*page)[block % pageSize];
}

void OrderSearch::open(Search &search, std::uint32_t agent, std::uint32_t length) {
  if (logs_.isNode(agent)) {
    const std::uint32_t node = agent - index_.numBlocks();
    if (node >= search.nodes.size()) {
      search.bytes += (logs_.numNodes() - search.nodes.size()) / 8;
      search.nodes.resize(logs_.numNodes());
    } else if (search.nodes[node]) {
      return;
    }
    search.nodes[node] = true;
    search.near.push_back({agent, 0, 0});
    return;
  }
  Reach &reach = reachOf(search, agent);
  if (reach.length >= length)
    return;
  (index_.rankOf(agent) == search.rank ? search.near : search.far).push_back({agent, reach.length, length});
  reach.length = length;
}

/// Adds the direct contents of a clock to the search, and opens the contents that it refers to.
void OrderSearch::look(Search &search, const MessageClock &clock, bool direct) {
  if (logs_.isNode(clock.agent))
    return open(search, clock.agent, 0);
  if (!carriesEarlier(clock.kind, search.relation))
    return;
  const std::uint32_t rank = index_.rankOf(clock.agent);
  // A launch of a rank begins after all its blocks have ended the launch before. So a message from a later launch
  // includes all of this one.
  if (search.launch < logs_.numLaunches() && clock.phase >= logs_.begin(search.launch, clock.agent).phase) {
    search.laterRanks.resize(index_.numRanks());
    search.laterRanks[rank] = true;
  }
  if (carries(clock.kind, search.relation)) {
    if (direct)
      takeOver(search, clock);
    Reach &reach = reachOf(search, clock.agent);
    reach.phase = std::max(reach.phase, clock.phase);
    open(search, clock.agent, clock.length);
    if (clock.besides != none)
      open(search, clock.besides, 0);
    return;
  }
  // Relaxed signals carry what their sender knew at the beginning of its launch.
  const std::uint32_t began = logs_.launchesBegun(clock.agent, clock.phase);
  if (began <= search.launch)
    return;
  if (const std::uint32_t meeting = logs_.meeting(began - 1, rank); meeting != none)
    open(search, meeting, 0);
  else
    open(search, clock.agent, logs_.begin(began - 1, clock.agent).length);
}

/// Adds the results of the search that the sender of `clock` has made for itself. Does nothing if that search has read
/// entries of the sender's log that are later than `clock`.
void OrderSearch::takeOver(Search &search, const MessageClock &clock) {
  const auto it = searches_.find(key(clock.agent, search.launch, search.relation));
  if (it == searches_.end() || it->second.own > clock.length || reachOf(search, clock.agent).length >= it->second.own)
    return;
  const Search &found = it->second;
  for (std::size_t p = 0; p < found.pages.size(); ++p) {
    if (!found.pages[p] || found.pages[p] == search.pages[p])
      continue;
    if (!search.pages[p]) {
      search.pages[p] = found.pages[p];
      continue;
    }
    reachOf(search, static_cast<std::uint32_t>(p * pageSize)); // makes a copy of the page for this search
    for (std::uint32_t i = 0; i < pageSize; ++i) {
      Reach &into = (*search.pages[p])[i];
      into = {std::max(into.length, (*found.pages[p])[i].length), std::max(into.phase, (*found.pages[p])[i].phase)};
    }
  }
  const auto join = [](std::vector<bool> &into, const std::vector<bool> &from) {
    into.resize(std::max(into.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
      into[i] = into[i] || from[i];
  };
  join(search.nodes, found.nodes);
  join(search.laterRanks, found.laterRanks);
  search.far.insert(search.far.end(), found.near.begin(), found.near.end());
  search.far.insert(search.far.end(), found.far.begin(), found.far.end());
}

bool OrderSearch::tells(const Search &search, std::uint32_t block, std::uint32_t phase) const {
  const auto &page = search.pages[block / pageSize];
  return (page && (*page)[block % pageSize].phase > phase) ||
         (!search.laterRanks.empty() && search.laterRanks[index_.rankOf(block)]);
}

bool OrderSearch::find(Search &search, std::uint32_t block, std::uint32_t phase) {
  bool found = tells(search, block, phase);
  while (!found && !(search.near.empty() && search.far.empty())) {
    auto &stack = search.near.empty() ? search.far : search.near;
    const Unread next = stack.back();
    stack.pop_back();
    if (logs_.isNode(next.agent)) {
      for (const MessageClock &clock : logs_.node(next.agent))
        look(search, clock, false);
    } else {
      const auto &log = logs_.of(next.agent);
      entries_.clear();
      for (std::uint32_t i = next.to; i > next.from; i = log[i - 1].previous)
        entries_.push_back(i - 1);
      for (const std::uint32_t i : std::views::reverse(entries_))
        look(search, log[i], next.agent == search.block);
    }
    found = tells(search, block, phase);
  }
  return found;
}

} // namespace mscclc::passes::proof
