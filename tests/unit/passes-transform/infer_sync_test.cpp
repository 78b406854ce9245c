// Where infer-sync puts a nop.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

/// The operations with "|" where infer-sync puts a nop.
std::string synced(const std::string &ops, const std::string &options = "") {
  std::string text = opsAfter("infer-sync", ops, options);
  for (std::size_t at; (at = text.find("nop\n")) != text.npos;)
    text.replace(at, 4, "|");
  return text;
}

TEST_CASE("accesses that meet a write part") {
  CHECK(synced("copy scratch[0:1] <- input[0:1]\ncopy output[0:1] <- scratch[0:1]") ==
        "copy scratch[0:1] <- input[0:1]\n|copy output[0:1] <- scratch[0:1]\n");
  CHECK(synced("copy scratch[0:1] <- input[0:1]\ncopy input[0:1] <- output[0:1]") ==
        "copy scratch[0:1] <- input[0:1]\n|copy input[0:1] <- output[0:1]\n");
  CHECK(synced("copy scratch[0:2] <- input[0:2]\ncopy scratch[1:2] <- output[0:1]") ==
        "copy scratch[0:2] <- input[0:2]\n|copy scratch[1:2] <- output[0:1]\n");
}

TEST_CASE("reads, other chunks and other buffers do not") {
  for (const char *ops : {"copy scratch[0:1] <- input[0:1]\ncopy scratch[1:2] <- input[0:1]\n",
                          "copy scratch[0:2] <- input[0:2]\ncopy output[0:2] <- scratch[2:4]\n",
                          "copy scratch[0:1] <- input[0:1]\nput memory remote2[0:1] <- input[0:1]\n",
                          "re input[0:1] <- input[0:1], input[1:2]\n", "copy input[0:1] <- input[0:1]\n"})
    CHECK(synced(ops) == ops);
}

TEST_CASE("a nop or barrier clears the record") {
  for (const char *sync : {"nop", "barrier 0 blocks 1"}) {
    const std::string ops =
        std::string("copy scratch[0:1] <- input[0:1]\n") + sync + "\ncopy output[0:1] <- scratch[0:1]\n";
    CHECK(opsAfter("infer-sync", ops) == ops);
  }
}

TEST_CASE("auto sync can be switched off") {
  const char *ops = "copy scratch[0:1] <- input[0:1]\ncopy output[0:1] <- scratch[0:1]\n";
  CHECK(synced(ops, "auto_sync off\n") == ops);
}

TEST_CASE("an operation that got its nop counts with all its accesses") {
  // Upstream forgets those looked at before the conflict, so the last line has no nop there.
  CHECK(synced("copy output[0:1] <- input[1:2]\ncopy output[0:1] <- input[0:1]\ncopy input[0:1] <- input[2:3]") ==
        "copy output[0:1] <- input[1:2]\n|copy output[0:1] <- input[0:1]\n|copy input[0:1] <- input[2:3]\n");
}

TEST_CASE("of what a pipeline does to a place the latest counts") {
  // The body's own nop orders its write and its read, so a read behind the pipeline meets a read; a write meets it.
  const std::string loop = "pipeline unit_size 64 num_chunks 1 {\n"
                           "copy scratch[0:2] <- input[0:2]\n"
                           "|copy output[0:1] <- scratch[0:1]\n"
                           "}\n";
  const std::string plain = "pipeline unit_size 64 num_chunks 1 {\n"
                            "copy scratch[0:2] <- input[0:2]\n"
                            "copy output[0:1] <- scratch[0:1]\n"
                            "}\n";
  CHECK(synced(plain + "copy output[1:2] <- scratch[0:1]\n") == loop + "copy output[1:2] <- scratch[0:1]\n");
  CHECK(synced(plain + "copy output[1:2] <- scratch[1:2]\n") == loop + "|copy output[1:2] <- scratch[1:2]\n");
  CHECK(synced(plain + "copy scratch[0:1] <- input[4:5]\n") == loop + "|copy scratch[0:1] <- input[4:5]\n");
}

TEST_CASE("a pipeline is one operation outside and a block of its own inside") {
  CHECK(synced("copy scratch[0:1] <- input[0:1]\n"
               "pipeline unit_size 64 num_chunks 1 {\n"
               "copy output[0:1] <- scratch[0:1]\n"
               "put memory remote0[0:1] <- output[0:1]\n"
               "}\n"
               "copy output[0:1] <- input[4:5]\n") == "copy scratch[0:1] <- input[0:1]\n"
                                                      "|pipeline unit_size 64 num_chunks 1 {\n"
                                                      "copy output[0:1] <- scratch[0:1]\n"
                                                      "|put memory remote0[0:1] <- output[0:1]\n"
                                                      "}\n"
                                                      "|copy output[0:1] <- input[4:5]\n");
}

TEST_CASE("switch operations read and write this rank's share") {
  CHECK(synced("copy scratch[0:1] <- input[0:1]\ngstore switch [0] switch0[3:4] <- scratch[0:1]") ==
        "copy scratch[0:1] <- input[0:1]\n|gstore switch [0] switch0[3:4] <- scratch[0:1]\n");
  CHECK(synced("copy output[3:4] <- input[0:1]\nglre switch [0] scratch[0:1] <- switch0[3:4]") ==
        "copy output[3:4] <- input[0:1]\n|glre switch [0] scratch[0:1] <- switch0[3:4]\n");
  CHECK(synced("glres switch [0] switch0[3:4] <- switch0[2:3]\ncopy input[0:1] <- output[3:4]") ==
        "glres switch [0] switch0[3:4] <- switch0[2:3]\n|copy input[0:1] <- output[3:4]\n");
}

TEST_CASE("of a packet reduce the first source and the destination are plain") {
  CHECK(synced("copy output[0:1] <- input[0:1]\nrepkt output[1:2] <- output[0:1], scratch[0:1]") ==
        "copy output[0:1] <- input[0:1]\n|repkt output[1:2] <- output[0:1], scratch[0:1]\n");
  const char *packets = "cpkt scratch[0:1] <- input[0:1]\nrepkt output[1:2] <- output[0:1], scratch[0:1]\n";
  CHECK(synced(packets) == packets);
}

TEST_CASE("a packet chunk lies at twice the scale of plain scratch") {
  CHECK(synced("copy scratch[3:4] <- input[0:1]\nupkt output[0:1] <- scratch[1:2]") ==
        "copy scratch[3:4] <- input[0:1]\n|upkt output[0:1] <- scratch[1:2]\n");
  const char *beside = "copy scratch[1:2] <- input[0:1]\nupkt output[0:1] <- scratch[1:2]\n";
  CHECK(synced(beside) == beside);
}

TEST_CASE("packet accesses are not recorded") {
  const char *ops = "upkt output[0:1] <- scratch[0:1]\ncopy scratch[0:1] <- input[0:1]\n";
  CHECK(synced(ops) == ops);
}

TEST_CASE("in a program of statements, memory of other ranks counts where threads do not do the same of it") {
  const std::string options = "collective test\nschedule auto\n";
  const std::string put = "put memory remote1[0:2] <- input[0:2]\n",
                    multicast = "gstore switch [0] switch0[0:2] <- input[2:4]\n",
                    gather = "glre switch [0] scratch[0:2] <- switch0[0:2]\n",
                    get = "get memory [0] input[4:6] <- remote1[0:2]\n";
  CHECK(synced(put + multicast, options) == put + "|" + multicast);
  CHECK(synced(multicast + put, options) == multicast + "|" + put);
  CHECK(synced(put + gather, options) == put + "|" + gather);
  CHECK(synced(gather + put, options) == gather + "|" + put);
  CHECK(synced(get + multicast, options) == get + "|" + multicast);
  CHECK(synced(put + "nop\n" + multicast, options) == put + "|" + multicast);
  // A part of what was put lies with other threads than it did.
  const std::string part = "put memory remote1[1:2] <- input[6:7]\n";
  CHECK(synced(put + part, options) == put + "|" + part);
  CHECK(synced(part + put, options) == part + "|" + put);
  CHECK(synced(get + part, options) == get + "|" + part);
  // What was put before a nop does not count again, what was put since does.
  CHECK(synced(put + multicast + put, options) == put + "|" + multicast + "|" + put);

  for (const std::string &ops :
       {put + put, put + get, get + put, get + gather, gather + get,
        put + "gstore switch [0] switch0[2:4] <- input[2:4]\n", put + "gstore switch [1] switch1[0:2] <- input[2:4]\n"})
    CHECK(synced(ops, options) == ops);
  // A program of thread blocks says it itself.
  CHECK(synced(put + multicast) == put + multicast);
}

TEST_CASE("a pipeline's body and what stands around it share memory of other ranks out apart") {
  const std::string options = "collective test\nschedule auto\n", put = "put memory remote1[0:1] <- input[0:1]\n",
                    multicast = "gstore switch [0] switch0[0:1] <- input[1:2]\n";
  const auto loop = [](const std::string &body) { return "pipeline unit_size 64 num_chunks 1 {\n" + body + "}\n"; };
  CHECK(synced(loop(put + multicast), options) == loop(put + "|" + multicast));
  CHECK(synced(put + loop(put), options) == put + "|" + loop(put));
  CHECK(synced(loop(put) + put, options) == loop(put) + "|" + put);
  CHECK(synced(loop(put + put), options) == loop(put + put));
}

TEST_CASE("in place, input and output are one memory") {
  const char *ops = "copy output[0:1] <- scratch[0:1]\nput memory remote0[0:1] <- input[0:1]\n";
  CHECK(synced(ops) == ops);
  CHECK(synced(ops, "collective allreduce inplace\n") ==
        "copy output[0:1] <- scratch[0:1]\n|put memory remote0[0:1] <- input[0:1]\n");
}

} // namespace
