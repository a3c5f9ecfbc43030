// SPDX-License-Identifier: BSD-2-Clause
// What becomes of a net before it is built: layers that its state leaves out, and splits.
#include <filesystem>

#include "core/nets/format/filter_net.hpp"
#include "tests/nets/format_world.hpp"

namespace ferry::testing {
namespace {

namespace fs = std::filesystem;

NetParameter Filtered(const NetParameter& net) {
  NetParameter filtered;
  detail::FilterNet(net, &filtered);
  return filtered;
}
NetParameter Split(const NetParameter& net) {
  NetParameter split;
  InsertSplits(net, &split);
  return split;
}

/// The state that a file's name gives, after the net's: `.PHASE.txt` or `.PHASE.L<level>[+stage...].txt`.
void SetState(std::string name, NetState* state) {
  state->set_phase(name.starts_with(".TRAIN") ? TRAIN : TEST);
  const std::size_t level = name.find(".L");
  if (level == std::string::npos) return;
  name = name.substr(level + 2, name.rfind(".txt") - level - 2);
  state->set_level(std::stoi(name));
  for (std::size_t at = name.find('+'); at != std::string::npos;) {
    const std::size_t end = name.find('+', at + 1);
    state->add_stage(name.substr(at + 1, end - at - 1));
    at = end;
  }
}

TEST_CASE("nets of all three forms become what Caffe makes of them") {
  const fs::path folder = CaffeFile("rewrite");
  int compared = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".txt")) continue;
    CAPTURE(name);
    const std::string stem = name.substr(0, name.find('.'));
    NetParameter net;
    ReadNetParamsFromTextFileOrDie(folder / (stem + ".in.prototxt"), &net);
    CHECK_FALSE(NetNeedsUpgrade(net));
    SetState(name.substr(stem.size()), net.mutable_state());
    const NetParameter made = Split(Filtered(net));
    NetParameter want;
    ReadProtoFromTextFile(entry.path(), &want);
    CHECK(Difference(want, made) == "");
    CHECK(Difference(made, Split(Filtered(made))) == "");
    ++compared;
  }
  CHECK(compared >= 6);
}

TEST_CASE("a state meets a rule by its phase, its level and its stages") {
  const auto meets = [](const std::string& state, const std::string& rule) {
    return detail::StateMeetsRule(Make<NetState>(state), Make<NetStateRule>(rule), "layer");
  };
  CHECK(meets("", ""));
  CHECK(meets("", "phase: TEST"));
  CHECK_FALSE(meets("", "phase: TRAIN"));
  CHECK(meets("phase: TRAIN level: 3", "phase: TRAIN min_level: 3 max_level: 3"));
  CHECK_FALSE(meets("level: 2", "min_level: 3"));
  CHECK_FALSE(meets("level: 4", "max_level: 3"));
  CHECK_FALSE(meets("", "max_level: -1"));
  CHECK(meets("stage: 'a' stage: 'b'", "stage: 'b' stage: 'a'"));
  CHECK_FALSE(meets("stage: 'a'", "stage: 'a' stage: 'b'"));
  CHECK(meets("stage: 'a'", "not_stage: 'b'"));
  CHECK_FALSE(meets("stage: 'a' stage: 'b'", "stage: 'a' not_stage: 'b'"));
}

TEST_CASE("the log says why a rule is not met") {
  const LogLines log(LogLevel::kInfo);
  Filtered(Make("state { level: 1 } layer { name: 'a' include { min_level: 2 } }"));
  REQUIRE(log.lines().size() == 1);
  CHECK(log.lines()[0] == "layer 'a': a rule is not met: level 1 is below min_level 2");
}

TEST_CASE("a layer is kept when an include rule is met, or when no exclude rule is") {
  const NetParameter net = Make(R"(
    state { phase: TRAIN stage: 's' }
    layer { name: 'plain' }
    layer { name: 'second include' include { phase: TEST } include { stage: 's' } }
    layer { name: 'no include' include { phase: TEST } }
    layer { name: 'exclude' exclude { phase: TEST } exclude { stage: 's' } }
    layer { name: 'no exclude' exclude { phase: TEST } })");
  const NetParameter filtered = Filtered(net);
  REQUIRE(filtered.layer_size() == 3);
  CHECK(filtered.layer(0).name() == "plain");
  CHECK(filtered.layer(1).name() == "second include");
  CHECK(filtered.layer(1).include_size() == 2);
  CHECK(filtered.layer(2).name() == "no exclude");
  CHECK(Difference(filtered, Filtered(filtered)) == "");

  NetParameter same = net;
  detail::FilterNet(same, &same);
  CHECK(Difference(filtered, same) == "");
}

TEST_CASE("a layer with include and exclude rules is an error that names it") {
  const NetParameter net = Make("layer { name: 'a' include { } exclude { } }");
  NetParameter filtered = Make("name: 'before'");
  CHECK_THROWS_MATCHES(detail::FilterNet(net, &filtered), NetError,
                       MessageMatches(StartsWith("layer 'a' has include and exclude rules")));
  CHECK(filtered.name() == "before");
}

TEST_CASE("all of a net except its layers passes through") {
  NetParameter net = Make(R"(name: 'n' input: 'i' input_dim: 1 input_shape { dim: 2 } force_backward: true
                             state { level: 1 } debug_info: true layers { name: 'v1' })");
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  NetParameter::GetReflection()->ListFields(net, &fields);
  CHECK(static_cast<int>(fields.size()) == NetParameter::descriptor()->field_count() - 1);
  net.mutable_unknown_fields()->AddVarint(999, 7);
  CHECK(Filtered(net).SerializeAsString() == net.SerializeAsString());
  CHECK(Split(net).SerializeAsString() == net.SerializeAsString());
}

TEST_CASE("a blob that several layers read goes to them by a split") {
  const NetParameter net = Make(R"(
    layer { name: 'data' top: 'x' top: 'y' }
    layer { name: 'a' bottom: 'y' bottom: 'x' top: 'a' }
    layer { name: 'b' bottom: 'y' top: 'b' })");
  const NetParameter want = Make(R"(
    layer { name: 'data' top: 'x' top: 'y' }
    layer { name: 'y_data_1_split' type: 'Split' bottom: 'y' top: 'y_data_1_split_0' top: 'y_data_1_split_1' }
    layer { name: 'a' bottom: 'y_data_1_split_0' bottom: 'x' top: 'a' }
    layer { name: 'b' bottom: 'y_data_1_split_1' top: 'b' })");
  CHECK(Difference(want, Split(net)) == "");
  CHECK(Difference(want, Split(want)) == "");
  NetParameter same = net;
  InsertSplits(same, &same);
  CHECK(Difference(want, same) == "");
}

TEST_CASE("a layer that reads a blob twice gets two tops of its split") {
  const NetParameter net =
      Split(Make("layer { name: 'd' top: 'x' } layer { name: 'e' bottom: 'x' bottom: 'x' }"));
  REQUIRE(net.layer_size() == 3);
  CHECK(net.layer(2).bottom(0) == "x_d_0_split_0");
  CHECK(net.layer(2).bottom(1) == "x_d_0_split_1");
}

TEST_CASE("what a layer writes in place is a blob of its own to those after it") {
  const NetParameter net = Make(R"(
    layer { name: 'd' top: 'x' }
    layer { name: 'relu' bottom: 'x' top: 'x' }
    layer { name: 'a' bottom: 'x' top: 'a' }
    layer { name: 'b' bottom: 'x' top: 'b' })");
  const NetParameter want = Make(R"(
    layer { name: 'd' top: 'x' }
    layer { name: 'relu' bottom: 'x' top: 'x' }
    layer { name: 'x_relu_0_split' type: 'Split' bottom: 'x' top: 'x_relu_0_split_0' top: 'x_relu_0_split_1' }
    layer { name: 'a' bottom: 'x_relu_0_split_0' top: 'a' }
    layer { name: 'b' bottom: 'x_relu_0_split_1' top: 'b' })");
  CHECK(Difference(want, Split(net)) == "");
}

TEST_CASE("a loss weight reads its top, and goes to the split's first") {
  const NetParameter net = Make(R"(
    layer { name: 'd' top: 'x' top: 'y' loss_weight: 2 loss_weight: 0 }
    layer { name: 'a' bottom: 'x' bottom: 'y' top: 'a' loss_weight: 3 })");
  const NetParameter want = Make(R"(
    layer { name: 'd' top: 'x' top: 'y' }
    layer { name: 'x_d_0_split' type: 'Split' bottom: 'x' top: 'x_d_0_split_0' top: 'x_d_0_split_1'
            loss_weight: 2 loss_weight: 0 }
    layer { name: 'a' bottom: 'x_d_0_split_1' bottom: 'y' top: 'a' loss_weight: 3 })");
  CHECK(Difference(want, Split(net)) == "");
}

TEST_CASE("a bottom that is no top before it is an error that names layer, index and blob") {
  NetParameter split = Make("name: 'before'");
  const NetParameter later =
      Make("layer { name: 'd' top: 'x' } layer { name: 'a' bottom: 'x' bottom: 'b' } layer { top: 'b' }");
  CHECK_THROWS_MATCHES(InsertSplits(later, &split), NetError,
                       Message("layer 'a': bottom 1, 'b', is no top of a layer before it"));
  CHECK_THROWS_AS(InsertSplits(Make("layer { bottom: 'x' top: 'x' }"), &split), NetError);
  CHECK(split.name() == "before");
}

}  // namespace
}  // namespace ferry::testing
