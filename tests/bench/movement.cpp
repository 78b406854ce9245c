// For tests/bench/auto: the data movement of algorithms of MSCCL++ that no sample has.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Every chunk crosses the network once for each other node, and then spreads inside it. The inputs are not changed.
MSCCLC_ALGORITHM void allgather_out_of_place(int nodes = 2, int gpus = 4) {
  const int ranks = nodes * gpus;
  CollectiveProgram program(
      "allgather_out_of_place", AllGather(ranks, 1, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int rank = 0; rank < ranks; ++rank)
    for (int node = 0; node < nodes; ++node) {
      const int twin = node * gpus + rank % gpus;
      Chunk here = twin == rank ? Rank(rank).input()[0] : Rank(twin).output()[rank];
      if (twin != rank)
        copy(here, Rank(rank).input()[0]);
      for (int gpu = 0; gpu < gpus; ++gpu)
        copy(Rank(node * gpus + gpu).output()[rank], here);
    }
}

/// Shares are reduced inside each node, cross the network once, and are summed in every node.
MSCCLC_ALGORITHM void allreduce_once(int nodes = 2, int gpus = 4) {
  const int ranks = nodes * gpus;
  CollectiveProgram program(
      "allreduce_once", AllReduce(ranks, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const auto share = [&](int rank) { return Rank(rank).input().slice(gpu * nodes, (gpu + 1) * nodes); };
    List<Chunk> sums; // in each node
    for (int node = 0; node < nodes; ++node) {
      List<Chunk> parts;
      for (int step = 1; step < gpus; ++step)
        parts.push_back(share(node * gpus + (gpu + step) % gpus));
      sums.push_back(share(node * gpus + gpu));
      reduce(sums[node], parts);
    }
    List<List<Chunk>> arrived;
    for (int node = 0; node < nodes; ++node) {
      Buffer others(node * gpus + gpu, (nodes - 1) * nodes);
      List<Chunk> places;
      for (int step = 1; step < nodes; ++step) {
        Chunk place = others.slice((step - 1) * nodes, step * nodes);
        copy(place, sums[(node + step) % nodes]);
        places.push_back(place);
      }
      arrived.push_back(places);
    }
    for (int node = 0; node < nodes; ++node) {
      reduce(sums[node], arrived[node]);
      for (int step = 1; step < gpus; ++step)
        copy(share(node * gpus + (gpu + step) % gpus), sums[node]);
    }
  }
}

/// Every chunk goes to all ranks. The compiler chooses the kind of channel; the switch is one of the choices.
MSCCLC_ALGORITHM void allgather_anyway(int ranks = 8) {
  CollectiveProgram program(
      "allgather_anyway", AllGather(ranks, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = Order::Any});
  for (int src = 0; src < ranks; ++src) {
    List<Chunk> places;
    for (int dst = 0; dst < ranks; ++dst)
      places.push_back(Rank(dst).output()[src]);
    copy(places, Rank(src).output()[src]);
  }
}

/// Every share is summed over all ranks, and the sum goes to all. The compiler chooses the kind of channel.
MSCCLC_ALGORITHM void allreduce_anyway(int ranks = 8) {
  CollectiveProgram program(
      "allreduce_anyway", AllReduce(ranks, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = Order::Any});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk sum = Rank(rank).input()[rank];
    List<Chunk> places;
    for (int step = 1; step < ranks; ++step)
      places.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(sum, places);
    places.push_back(sum); // the switch writes to all ranks
    copy(places, sum);
  }
}
