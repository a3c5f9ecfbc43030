// SPDX-License-Identifier: BSD-2-Clause
// Messages in text files.
#include <cmath>
#include <limits>

#include "tests/nets/format_world.hpp"

namespace ferry::testing {
namespace {

NetParameter Read(const Folder& folder, const std::string& text) {
  Put(folder / "net.prototxt", text);
  NetParameter net;
  CHECK(ReadProtoFromTextFile(folder / "net.prototxt", &net));
  return net;
}

/// The error of a text, without the path that it begins with.
std::string ErrorOf(const std::string& text) {
  const Folder folder;
  const std::string file = (folder / "net.prototxt").string();
  Put(file, text);
  NetParameter net;
  net.set_name("before");
  std::string what;
  try {
    ReadProtoFromTextFile(file, &net);
  } catch (const NetError& error) {
    what = error.what();
  }
  CHECK(net.name() == "before");
  CHECK(Difference(Make("name: 'before'"), net).empty());
  CHECK(what.starts_with(file + ":"));
  return what.substr(std::min(what.size(), file.size() + 1));
}

TEST_CASE("a text is read in each form that prototxt has") {
  const Folder folder;
  const NetParameter net = Read(folder, R"(# a comment
name: 'one' " and two"
layer: { name: "a" type: "Power" power_param { power: 1e-5 scale: .999 shift: 1. } }
layer { name: "b", bottom: ["x", "y"]; bottom: 'z' pooling_param < pool: AVE kernel_size: 0x10 > }
force_backward: true
)");
  CHECK(net.name() == "one and two");
  REQUIRE(net.layer_size() == 2);
  CHECK(net.layer(0).power_param().power() == 1e-5F);
  CHECK(net.layer(0).power_param().scale() == .999F);
  CHECK(net.layer(0).power_param().shift() == 1);
  CHECK(net.layer(1).bottom_size() == 3);
  CHECK(net.layer(1).pooling_param().pool() == PoolingParameter::AVE);
  CHECK(net.layer(1).pooling_param().kernel_size() == 16);
  CHECK(net.force_backward());
  CHECK(Difference(NetParameter(), Read(folder, "")).empty());
}

TEST_CASE("an error in a text has the line and column of what is wrong, as an editor counts them") {
  CHECK(ErrorOf("name: 'a'\nlayer {\n  nam: 'b'\n}") ==
        "3:3: Message type \"LayerParameter\" has no field named \"nam\".");
  CHECK(ErrorOf("name: 'a'\n\nlayers { type: REALU\n\n}") ==
        "3:16: Unknown enumeration value of \"REALU\" for field \"type\".");
  CHECK_THAT(ErrorOf("layer {\n\tpooling_param {\t\tpool: # MAXX\n\tMAXX }\n}"),
             StartsWith("3:2: Unknown enumeration"));
  CHECK_THAT(ErrorOf("\t \tname: 3"), StartsWith("1:10: Expected string"));
  CHECK_THAT(ErrorOf("name: 'a'\nname: 'b'"), StartsWith("2:1: Non-repeated field \"name\""));
  CHECK_THAT(ErrorOf("force_backward: maybe\n\n"), StartsWith("1:17: Invalid value for boolean"));
  CHECK_THAT(ErrorOf("layer { lrn_param { local_size: -1 } }"), StartsWith("1:33: "));
  CHECK_THAT(ErrorOf("layer { inner_product_param { num_output: 4294967296 } }"),
             StartsWith("1:43: Integer out of range"));
  CHECK_THAT(ErrorOf("name: 'a'\nlayer {\n  name: 'b'\n"), StartsWith("4:1: "));
  CHECK_THAT(ErrorOf("name: 'a\nb'"), StartsWith("1:9: String literals cannot cross line boundaries"));
  CHECK_THAT(ErrorOf("149: 5"), StartsWith("1:1: Expected identifier"));
  CHECK_THAT(ErrorOf("[a.b]: 5"), ContainsSubstring("a.b"));
}

TEST_CASE("a name that is wrong is found where it stands last, and as a whole word") {
  CHECK_THAT(ErrorOf("name: 'typo'\ntypo: 1\nlayer { name: 'typo' }"), StartsWith("2:1: "));
  CHECK_THAT(ErrorOf("layer { name: 'a' } # a\na  \n\n : 1"), StartsWith("2:1: "));
  CHECK_THAT(ErrorOf("o: 1"), StartsWith("1:1: "));
}

TEST_CASE("a required field that a text lacks is named, with the place of the message that lacks it") {
  CHECK(ErrorOf("layer { }\nlayer {\n  clip_param { max: 1 } }") ==
        "3:3: the required field layer[1].clip_param.min is missing");
  CHECK(ErrorOf("layer { clip_param { min: 1 } }") ==
        "1:9: the required field layer[0].clip_param.max is missing");
}

TEST_CASE("a binary file is no text") {
  const NetParameter net = Make("name: 'a' layer { loss_weight: 0 }");
  CHECK_THAT(ErrorOf(net.SerializeAsString()),
             ContainsSubstring("this is binary, and not the text of a NetParameter"));
}

TEST_CASE("a text file that cannot be opened is an error that names it") {
  const Folder folder;
  NetParameter net;
  const std::string none = (folder / "none").string();
  CHECK_THROWS_MATCHES(ReadProtoFromTextFile(none, &net), NetError,
                       Message("ReadNetParameter: " + none + ": cannot open: No such file or directory"));
  CHECK_THROWS_MATCHES(ReadProtoFromTextFileOrDie(none, &net), NetError,
                       MessageMatches(ContainsSubstring(none)));
  CHECK_THROWS_MATCHES(ReadProtoFromTextFile(folder / "", &net), NetError,
                       MessageMatches(ContainsSubstring("Is a directory")));
  CHECK_THROWS_MATCHES(ReadProtoFromTextFile("", &net), NetError,
                       MessageMatches(ContainsSubstring("the path is empty")));
  CHECK_THROWS_MATCHES(WriteProtoToTextFile(net, folder / "no" / "net"), NetError,
                       MessageMatches(ContainsSubstring("cannot create: No such file or directory")));
}

TEST_CASE("a message that is written as text is read as the same") {
  const Folder folder;
  NetParameter net = Make(R"(name: 'quotes " \' \n' layer { name: 'a' blobs { double_data: 0.1 } })");
  BlobProto* const blob = net.mutable_layer(0)->add_blobs();
  for (const float value : {1e-45F, 0.1F, 16777217.0F, 3.4028235e38F, -0.0F}) blob->add_data(value);
  blob->add_data(std::numeric_limits<float>::infinity());
  WriteProtoToTextFile(net, folder / "net");
  NetParameter read;
  read.set_force_backward(true);
  ReadProtoFromTextFileOrDie(folder / "net", &read);
  CHECK(read.SerializeAsString() == net.SerializeAsString());
  CHECK(folder.Files().size() == 1);

  blob->set_data(0, std::numeric_limits<float>::quiet_NaN());
  WriteProtoToTextFile(net, folder / "net");
  ReadProtoFromTextFile(folder / "net", &read);
  CHECK(std::isnan(read.layer(0).blobs(1).data(0)));
}

TEST_CASE("fields that a text cannot have are left out of it, with a warning that names them") {
  const Folder folder;
  NetParameter net = Make("name: 'a' layer { } layer { }");
  for (LayerParameter& layer : *net.mutable_layer()) layer.mutable_unknown_fields()->AddVarint(999, 1);
  const LogLines log;
  WriteProtoToTextFile(net, folder / "net");
  REQUIRE(log.lines().size() == 1);
  CHECK_THAT(log.lines()[0],
             ContainsSubstring("left out") && ContainsSubstring("LayerParameter field 999 (2 times)"));
  CHECK(Difference(Make("name: 'a' layer { } layer { }"), Read(folder, Bytes(folder / "net"))).empty());
}

TEST_CASE("a message without a required field is not written, and the file stays") {
  const Folder folder;
  Put(folder / "net", "before");
  NetParameter net;
  net.add_layer()->mutable_clip_param()->set_min(0);
  const auto missing =
      MessageMatches(ContainsSubstring("the required field layer[0].clip_param.max is missing"));
  CHECK_THROWS_MATCHES(WriteProtoToTextFile(net, folder / "net"), NetError, missing);
  CHECK_THROWS_MATCHES(WriteProtoToBinaryFile(net, folder / "net"), NetError, missing);
  CHECK(Bytes(folder / "net") == "before");
  CHECK(folder.Files().size() == 1);
}

TEST_CASE("a solver's text is read with its type and its prefix brought up to date") {
  const Folder folder;
  SolverParameter solver;
  const auto read = [&](const std::string& text) {
    Put(folder / "solver.prototxt", text);
    ReadSolverParamsFromTextFileOrDie(folder / "solver.prototxt", &solver);
    return solver;
  };
  CHECK(read("solver_type: NESTEROV").type() == "Nesterov");
  CHECK(solver.snapshot_prefix() == (folder / "solver").string());
  CHECK(read("snapshot_prefix: '" + (folder / "").string() + "'").snapshot_prefix() ==
        (folder / "solver").string());
  CHECK(read("snapshot_prefix: 'some/where'").snapshot_prefix() == "some/where");
  CHECK_THROWS_MATCHES(read("solver_type: ADAM type: 'SGD'"), NetError,
                       MessageMatches(StartsWith((folder / "solver.prototxt").string()) &&
                                      ContainsSubstring("solver_type: ADAM and type: \"SGD\"")));
  CHECK(solver.snapshot_prefix() == "some/where");
}

}  // namespace
}  // namespace ferry::testing
