// SPDX-License-Identifier: BSD-2-Clause
// Nets and solvers of old forms. rewrite_test.cpp has whole nets, as Caffe upgrades them.
#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>

#include <set>
#include <utility>

#include "ferry/nets/layer_registry.hpp"
#include "tests/nets/format_world.hpp"

namespace ferry::testing {
namespace {

using google::protobuf::FieldDescriptor;

NetParameter Upgraded(const std::string& text) {
  NetParameter net = Make(text);
  CHECK(NetNeedsUpgrade(net));
  CHECK(UpgradeNetAsNeeded("net", &net));
  CHECK_FALSE(NetNeedsUpgrade(net));
  return net;
}

/// Sets each field, and each in it, to what is not its default.
void Fill(google::protobuf::Message* message) {
  const auto* const reflection = message->GetReflection();
  const auto* const type = message->GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* const field = type->field(i);
    const bool many = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(many ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        many ? reflection->AddString(message, field, "s") : reflection->SetString(message, field, "s");
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        many ? reflection->AddFloat(message, field, 7) : reflection->SetFloat(message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        many ? reflection->AddDouble(message, field, 7) : reflection->SetDouble(message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        many ? reflection->AddBool(message, field, true) : reflection->SetBool(message, field, true);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        many ? reflection->AddInt32(message, field, 7) : reflection->SetInt32(message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        many ? reflection->AddInt64(message, field, 7) : reflection->SetInt64(message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        many ? reflection->AddUInt32(message, field, 7) : reflection->SetUInt32(message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_ENUM: {
        const auto* const last = field->enum_type()->value(field->enum_type()->value_count() - 1);
        many ? reflection->AddEnum(message, field, last) : reflection->SetEnum(message, field, last);
        break;
      }
      default:
        FAIL("a type of field that the messages had not");
    }
  }
}

TEST_CASE("layers of two forms in one net are an error") {
  CHECK_THAT(UpgradeError("layers { type: RELU } layer { }"),
             StartsWith("the net has `layers { type: RELU }` and"));
  CHECK_THAT(UpgradeError("layers { layer { } } layer { }"),
             StartsWith("the net has `layers { type: RELU }` and"));
  CHECK_THAT(UpgradeError("layers { layer { } } layers { name: 'a' type: RELU }"),
             StartsWith("layers[1] 'a' is a V1 layer"));
  NetParameter net;
  CHECK_THROWS_AS(UpgradeV1Net(Make("layers { } layer { }"), &net), NetError);
}

TEST_CASE("each field of a V1 layer is in the layer that it becomes") {
  V1LayerParameter v1;
  Fill(&v1);
  v1.clear_layer();
  LayerParameter v2;
  CHECK(UpgradeV1LayerParameter(v1, &v2));
  LayerParameter rest = v2;
  const std::set<std::string> others = {"type",     "param",        "blob_share_mode",
                                        "blobs_lr", "weight_decay", "layer"};
  for (int i = 0; i < V1LayerParameter::descriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = V1LayerParameter::descriptor()->field(i);
    if (others.contains(field->name())) continue;
    CAPTURE(field->name());
    const FieldDescriptor* const into = LayerParameter::descriptor()->FindFieldByName(field->name());
    REQUIRE(into != nullptr);
    std::string before, after;
    google::protobuf::TextFormat::PrintFieldValueToString(v1, field, field->is_repeated() ? 0 : -1, &before);
    google::protobuf::TextFormat::PrintFieldValueToString(v2, into, field->is_repeated() ? 0 : -1, &after);
    CHECK(before == after);
    LayerParameter::GetReflection()->ClearField(&rest, into);
  }
  CHECK(
      Difference(Make<LayerParameter>(
                     "type: 'Threshold' param { name: 's' share_mode: PERMISSIVE lr_mult: 7 decay_mult: 7 }"),
                 rest) == "");
}

TEST_CASE("V1's lists for parameters become one list, as long as the longest") {
  const std::pair<const char*, const char*> layers[] = {
      {"blobs_lr: 1 blobs_lr: 2 weight_decay: 3", "param { lr_mult: 1 decay_mult: 3 } param { lr_mult: 2 }"},
      {"param: 'a' param: 'b'", "param { name: 'a' } param { name: 'b' }"},
      {"blob_share_mode: STRICT blob_share_mode: PERMISSIVE weight_decay: 1",
       "param { share_mode: STRICT decay_mult: 1 } param { share_mode: PERMISSIVE }"},
      {"", ""}};
  for (const auto& [v1, v2] : layers)
    CHECK(Difference(Make("layer { " + std::string(v2) + "}"),
                     Upgraded("layers { " + std::string(v1) + "}")) == "");
}

TEST_CASE("each V1 type has a name that a layer is registered under") {
  const std::vector<std::string> types = LayerRegistry<float>::LayerTypeList();
  std::set<std::string> names;
  for (int number = 0; number < V1LayerParameter::LayerType_ARRAYSIZE; ++number) {
    const auto type = static_cast<V1LayerParameter::LayerType>(number);
    const std::string name = UpgradeV1LayerType(type);
    CAPTURE(number, name);
    CHECK(names.insert(name).second);
    if (type == V1LayerParameter::NONE || type == V1LayerParameter::WINDOW_DATA) continue;
    CHECK(std::find(types.begin(), types.end(), name) != types.end());
    // CONTRASTIVE_LOSS is ContrastiveLoss, SOFTMAX_LOSS alone is not SoftmaxLoss.
    std::string letters = V1LayerParameter::LayerType_Name(type);
    std::erase(letters, '_');
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    CHECK(upper == (type == V1LayerParameter::SOFTMAX_LOSS ? "SOFTMAXWITHLOSS" : letters));
  }
  CHECK(std::string(UpgradeV1LayerType(V1LayerParameter::NONE)).empty());
  CHECK(std::string(UpgradeV1LayerType(V1LayerParameter::WINDOW_DATA)) == "WindowData");
  CHECK_THROWS_MATCHES(UpgradeV1LayerType(static_cast<V1LayerParameter::LayerType>(40)), NetError,
                       MessageMatches(ContainsSubstring("V1 layer type 40")));
}

TEST_CASE("a V0 layer within a V1 layer is dropped by the V1 upgrade alone, which says so") {
  const LogLines log;
  NetParameter net;
  CHECK_FALSE(UpgradeV1Net(Make("layers { name: 'a' type: RELU layer { type: 'conv' } }"), &net));
  CHECK(Difference(Make("layer { name: 'a' type: 'ReLU' }"), net) == "");
  REQUIRE(log.lines().size() == 1);
  CHECK_THAT(log.lines()[0], StartsWith("layer 'a': the V0 layer"));
}

TEST_CASE("a V1 layer's unknown fields are kept, unless today's form has their numbers") {
  NetParameter net = Make("layers { name: 'a' type: RELU relu_param { } }");
  V1LayerParameter& layer = *net.mutable_layers(0);
  layer.mutable_unknown_fields()->AddLengthDelimited(6001, "text");
  layer.mutable_relu_param()->mutable_unknown_fields()->AddVarint(77, 1);
  NetParameter want = Make("layer { name: 'a' type: 'ReLU' relu_param { } }");
  want.mutable_layer(0)->mutable_unknown_fields()->AddLengthDelimited(6001, "text");
  want.mutable_layer(0)->mutable_relu_param()->mutable_unknown_fields()->AddVarint(77, 1);
  NetParameter whole = net;
  CHECK(UpgradeNetAsNeeded("net", &whole));
  CHECK(Difference(want, whole) == "");

  layer.mutable_unknown_fields()->AddVarint(LayerParameter::kClipParamFieldNumber, 1);
  const LogLines log;
  CHECK_FALSE(UpgradeNetAsNeeded("net", &net));
  CHECK(Difference(want, net) == "");
  REQUIRE(log.lines().size() == 2);
  CHECK_THAT(log.lines()[0], StartsWith("layer 'a': field 148, which is unknown, is dropped"));
}

TEST_CASE("a V1 layer of a type that there is not, by its number in a file, is an error") {
  NetParameter net = Make("layers { name: 'a' }");
  net.mutable_layers(0)->mutable_unknown_fields()->AddVarint(V1LayerParameter::kTypeFieldNumber, 77);
  CHECK_THROWS_MATCHES(UpgradeNetAsNeeded("net", &net), NetError,
                       Message("net: V1 layer type 77 is none; there are 0 to 39"));
  CHECK(net.layers(0).unknown_fields().field_count() == 1);
  LayerParameter layer;
  CHECK_THROWS_AS(UpgradeV1LayerParameter(net.layers(0), &layer), NetError);
}

TEST_CASE("transformations move from data layers' parameters, and from no others") {
  CHECK(Difference(Make(R"(
            layer { type: 'Data' transform_param { scale: 1 mirror: true } data_param { source: 's' } }
            layer { type: 'ImageData' transform_param { mean_file: 'm' } image_data_param { } }
            layer { type: 'WindowData' transform_param { crop_size: 2 force_gray: true }
                    window_data_param { } }
            layer { type: 'Data' transform_param { } data_param { } }
            layer { type: 'ReLU' data_param { scale: 2 } })"),
                   Upgraded(R"(
            layers { type: DATA data_param { source: 's' scale: 1 mirror: true } }
            layers { type: IMAGE_DATA image_data_param { mean_file: 'm' } }
            layers { type: WINDOW_DATA transform_param { force_gray: true }
                     window_data_param { crop_size: 2 } }
            layers { type: DATA }
            layers { type: RELU data_param { scale: 2 } })")) == "");
  CHECK(Difference(Make("layer { type: 'Data' }"), Upgraded("layers { type: DATA }")) == "");
  for (const char* const field : {"scale: 1", "mean_file: 'm'", "crop_size: 2", "mirror: false"}) {
    CAPTURE(field);
    CHECK(NetNeedsDataUpgrade(Make("layers { type: DATA data_param { " + std::string(field) + "} }")));
    CHECK_FALSE(NetNeedsDataUpgrade(Make("layers { type: RELU data_param { " + std::string(field) + "} }")));
  }
}

TEST_CASE("weights of a V1 net are moved to the layers that it becomes, and not copied") {
  const Folder folder;
  NetParameter net =
      Make(R"(name: 'n' layers { name: 'ip' type: INNER_PRODUCT bottom: 'x' top: 'y' blobs_lr: 2
      blobs { num: 1 channels: 1 height: 2 width: 3 data: [1, 2, 3, 4, 5, 6] } blobs { data: 7 }
      inner_product_param { num_output: 2 } })");
  const NetParameter want = Make(R"(name: 'n' layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'
      param { lr_mult: 2 }
      blobs { num: 1 channels: 1 height: 2 width: 3 data: [1, 2, 3, 4, 5, 6] } blobs { data: 7 }
      inner_product_param { num_output: 2 } })");
  Put(folder / "net.caffemodel", net.SerializeAsString());
  NetParameter read;
  ReadNetParamsFromBinaryFileOrDie(folder / "net.caffemodel", &read);
  CHECK(Difference(want, read) == "");

  const float* const data = net.layers(0).blobs(0).data().data();
  CHECK(UpgradeNetAsNeeded("net", &net));
  CHECK(net.layer(0).blobs(0).data().data() == data);
  CHECK(Difference(want, net) == "");

  net = Make("layers { layer { name: 'a' type: 'conv' blobs { data: 1 } } }");
  const float* const v0_data = net.layers(0).layer().blobs(0).data().data();
  CHECK(UpgradeNetAsNeeded("net", &net));
  CHECK(net.layer(0).blobs(0).data().data() == v0_data);
}

TEST_CASE("a net in an arena is upgraded like another") {
  google::protobuf::Arena arena;
  auto* const net = google::protobuf::Arena::CreateMessage<NetParameter>(&arena);
  const std::string text = "layers { layer { name: 'a' type: 'conv' num_output: 2 blobs { data: 1 } } }";
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, net));
  CHECK(UpgradeNetAsNeeded("net", net));
  InsertSplits(*net, net);
  CHECK(Difference(Upgraded(text), *net) == "");
}

TEST_CASE("input fields become a first layer") {
  CHECK(Difference(Make(R"(layer { name: 'input' type: 'Input' top: 'a' top: 'b'
                             input_param { shape { dim: 1 dim: 2 } shape { dim: 3 } } }
                           layer { name: 'x' } layer { name: 'y' })"),
                   Upgraded(R"(input: 'a' input: 'b' input_shape { dim: 1 dim: 2 } input_shape { dim: 3 }
                               layer { name: 'x' } layer { name: 'y' })")) == "");
  CHECK(Difference(
            Make(R"(layer { name: 'input' type: 'Input' top: 'a' top: 'b'
                             input_param { shape { dim: [1, 2, 3, 4] } shape { dim: [5, 6, 7, 8] } } }
                           layer { type: 'ReLU' })"),
            Upgraded(R"(input: 'a' input: 'b' input_dim: [1, 2, 3, 4, 5, 6, 7, 8] layers { type: RELU })")) ==
        "");
  CHECK(Difference(Make("layer { name: 'input' type: 'Input' top: 'a' input_param { shape { dim: 9 } } }"),
                   Upgraded("input: 'a' input_shape { dim: 9 } input_dim: [1, 2, 3, 4]")) == "");
  CHECK(Difference(Make("layer { name: 'x' }"), Upgraded("input: 'a' layer { name: 'x' }")) == "");
  CHECK_FALSE(NetNeedsUpgrade(Make("input_dim: 1 input_shape { }")));
}

TEST_CASE("inputs without a shape for each are an error") {
  CHECK(UpgradeError("input: 'a' input: 'b' input_shape { }") ==
        "the net has 2 input, 1 input_shape and 0 input_dim; give one input_shape, or four input_dim, for "
        "each input");
  CHECK_THAT(UpgradeError("input: 'a' input: 'b' input_dim: [1, 2, 3, 4, 5, 6, 7]"),
             ContainsSubstring("7 input_dim"));
  CHECK_THAT(UpgradeError("layers { layer { type: 'relu' } } input: 'a' input_shape { } input_dim: 1"),
             ContainsSubstring("1 input, 0 input_shape and 1 input_dim"));
  NetParameter net = Make("input: 'a' input_dim: 1");
  CHECK_THROWS_AS(UpgradeNetInput(&net), NetError);
}

TEST_CASE("a BatchNorm layer with three params has them fixed") {
  const std::string other =
      "layer { type: 'BatchNorm' param { lr_mult: 2 } } layer { type: 'Scale' param { } param { } param { } "
      "}";
  CHECK_FALSE(NetNeedsUpgrade(Make(other)));
  NetParameter net =
      Make("layer { type: 'BatchNorm' param { name: 'a' lr_mult: 3 } param { } param { } }" + other);
  CHECK(NetNeedsUpgrade(net));
  CHECK(UpgradeNetAsNeeded("net", &net));
  CHECK(Difference(Make(R"(layer { type: 'BatchNorm' param { name: 'a' lr_mult: 0 decay_mult: 0 }
                           param { lr_mult: 0 decay_mult: 0 } param { lr_mult: 0 decay_mult: 0 } })" +
                        other),
                   net) == "");
}

TEST_CASE("a solver's type by number becomes one by name") {
  const std::pair<const char*, const char*> types[] = {{"SGD", "SGD"},           {"NESTEROV", "Nesterov"},
                                                       {"ADAGRAD", "AdaGrad"},   {"RMSPROP", "RMSProp"},
                                                       {"ADADELTA", "AdaDelta"}, {"ADAM", "Adam"}};
  for (const auto& [number, name] : types) {
    auto solver = Make<SolverParameter>("base_lr: 1 solver_type: " + std::string(number));
    CHECK(SolverNeedsTypeUpgrade(solver));
    CHECK(UpgradeSolverAsNeeded("solver", &solver));
    CHECK(Difference(Make<SolverParameter>("base_lr: 1 type: '" + std::string(name) + "'"), solver) == "");
    CHECK_FALSE(SolverNeedsTypeUpgrade(solver));
    CHECK(UpgradeSolverAsNeeded("solver", &solver));
    CHECK_FALSE(UpgradeSolverType(&solver));
    CHECK(solver.type() == name);
  }
}

TEST_CASE("a solver with a type by number and one by name is an error, and stays as it was") {
  const std::string text = "solver_type: SGD type: 'Adam'";
  auto solver = Make<SolverParameter>(text);
  CHECK_THROWS_MATCHES(UpgradeSolverAsNeeded("a/solver", &solver), NetError,
                       Message("a/solver: the solver has solver_type: SGD and type: \"Adam\"; keep type"));
  CHECK(Difference(Make<SolverParameter>(text), solver) == "");
}

TEST_CASE("the log names each upgrade of a net") {
  const LogLines log(LogLevel::kInfo);
  Upgraded("layers { layer { type: 'relu' scale: 1 } bottom: 'i' } input: 'i' input_dim: [1, 2, 3, 4]");
  REQUIRE(log.lines().size() == 3);
  CHECK(log.lines()[0] == "net: V0 layers of an old form are upgraded");
  CHECK_THAT(log.lines()[1], ContainsSubstring("V1 layers"));
  CHECK_THAT(log.lines()[2], ContainsSubstring("input fields"));
}

}  // namespace
}  // namespace ferry::testing
