// SPDX-License-Identifier: BSD-2-Clause
// Rows longer and shorter than what kernels go through at once, and with a rest.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>

#include "tests/nets/made_layer.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Approx;
using Values = std::vector<double>;

/// Numbers from -2 to 2 that floats hold, other ones for each seed.
Values Drawn(std::int64_t count, unsigned seed) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>((i * 2654435761 + seed * 40503) % 1021) / 256 - 2);
  return values;
}
Values Part(const Values& of, std::size_t first, std::size_t count) {
  return {of.begin() + static_cast<std::ptrdiff_t>(first),
          of.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

TEMPLATE_TEST_CASE("Concat and Slice move rows of any length", "[rows]", float, double) {
  for (const std::string& where : Places()) {
    const World world(where);
    for (const std::int64_t length : {1, 15, 16, 17, 16384, 16385, 40000}) {
      INFO(where << ", " << length);
      const Shape shapes[] = {{2, 3}, {2, length}};
      const auto long_one = static_cast<std::size_t>(length);
      const Values x = Drawn(6, 1), y = Drawn(2 * length, 2);
      Values joined;
      for (std::size_t row = 0; row < 2; ++row)
        for (const Values& part : {Part(x, row * 3, 3), Part(y, row * long_one, long_one)})
          joined.insert(joined.end(), part.begin(), part.end());

      Made<TestType> concat("name: 'c' type: 'Concat'", world.place(), {shapes[0], shapes[1]}, 1);
      SetData(*concat.bottoms[0], x);
      SetData(*concat.bottoms[1], y);
      concat.layer->Forward(concat.bottoms, concat.tops);
      CHECK((DataOf(*concat.tops[0]) == joined));
      SetDiff(*concat.tops[0], joined);
      concat.layer->Backward(concat.tops, {true, true}, concat.bottoms);
      CHECK((DiffOf(*concat.bottoms[0]) == x));
      CHECK((DiffOf(*concat.bottoms[1]) == y));

      Made<TestType> slice("name: 's' type: 'Slice' slice_param { slice_point: 3 }", world.place(),
                           {{2, length + 3}}, 2);
      SetData(*slice.bottoms[0], joined);
      slice.layer->Forward(slice.bottoms, slice.tops);
      CHECK((DataOf(*slice.tops[0]) == x));
      CHECK((DataOf(*slice.tops[1]) == y));
      SetDiff(*slice.tops[0], x);
      SetDiff(*slice.tops[1], y);
      slice.layer->Backward(slice.tops, {true}, slice.bottoms);
      CHECK((DiffOf(*slice.bottoms[0]) == joined));
    }
  }
}

TEMPLATE_TEST_CASE("Filter and BatchReindex move rows of any length", "[rows]", float, double) {
  for (const std::string& where : Places()) {
    const World world(where);
    for (const std::int64_t length : {1, 15, 16, 17, 16384, 16385, 40000}) {
      INFO(where << ", " << length);
      const auto row = static_cast<std::size_t>(length);
      const Values x = Drawn(3 * length, 7), none(row, 0);
      const auto rows = [&](const std::vector<Values>& parts) {
        Values all;
        for (const Values& part : parts) all.insert(all.end(), part.begin(), part.end());
        return all;
      };
      const Values first = Part(x, 0, row), last = Part(x, 2 * row, row);

      Made<TestType> filter("name: 'f' type: 'Filter'", world.place(), {{3, length}, {3}}, 1);
      SetData(*filter.bottoms[0], x);
      SetData(*filter.bottoms[1], {1, 0, 1});
      filter.layer->Forward(filter.bottoms, filter.tops);
      CHECK((DataOf(*filter.tops[0]) == rows({first, last})));
      SetDiff(*filter.tops[0], rows({last, first}));
      SetDiff(*filter.bottoms[0], x);
      filter.Backward();
      CHECK((DiffOf(*filter.bottoms[0]) == rows({last, none, first})));

      Made<TestType> reindex("name: 'r' type: 'BatchReindex'", world.place(), {{3, length}, {4}}, 1);
      SetData(*reindex.bottoms[0], x);
      SetData(*reindex.bottoms[1], {2, 0, 0, 2});
      reindex.layer->Forward(reindex.bottoms, reindex.tops);
      CHECK((DataOf(*reindex.tops[0]) == rows({last, first, first, last})));
    }
  }
}

TEMPLATE_TEST_CASE("BNLL of what is far below 0 has all its digits", "[rows]", float, double) {
  const World world("host cpu");
  const Values x = {-5, -15, -20, -40, -80};
  Made<TestType> bnll("name: 'b' type: 'BNLL'", world.place(), {{5}}, 1);
  SetData(*bnll.bottoms[0], x);
  bnll.layer->Forward(bnll.bottoms, bnll.tops);
  const Values y = DataOf(*bnll.tops[0]);
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(y[i] == Approx(std::log1p(std::exp(x[i]))).epsilon(sizeof(TestType) == 4 ? 1e-6 : 1e-14));
}

TEMPLATE_TEST_CASE("Tile adds the gradients of rows of any length", "[rows]", float, double) {
  for (const std::string& where : Places()) {
    const World world(where);
    for (const std::int64_t length : {1, 63, 64, 65, 130}) {
      INFO(where << ", " << length);
      Made<TestType> tile("name: 't' type: 'Tile' tile_param { tiles: 3 }", world.place(), {{2, length}}, 1);
      const Values dy = Drawn(6 * length, 3);
      SetDiff(*tile.tops[0], dy);
      tile.layer->Backward(tile.tops, {true}, tile.bottoms);
      Values dx;
      for (std::int64_t i = 0; i < 2 * length; ++i) {
        const auto first = static_cast<std::size_t>(i / length * 3 * length + i % length);
        const auto next = static_cast<std::size_t>(length);
        dx.push_back(dy[first] + dy[first + next] + dy[first + 2 * next]);
      }
      CHECK((DiffOf(*tile.bottoms[0]) == dx));
    }
  }
}

TEMPLATE_TEST_CASE("A loss adds any number of terms, to the same bits at every place", "[rows]", float,
                   double) {
  for (const std::int64_t count : {1, 31, 33, 1023, 1025, 2500, 7168, 7169, 7177, 8192, 8197, 9001}) {
    const Values a = Drawn(count, 4), b = Drawn(count, 5);
    double expected = 0;
    for (std::size_t i = 0; i < a.size(); ++i) expected += (a[i] - b[i]) * (a[i] - b[i]) / 2;
    Values losses;
    for (const std::string& where : Places()) {
      INFO(where << ", " << count);
      const World world(where);
      Made<TestType> loss("name: 'l' type: 'EuclideanLoss'", world.place(), {{1, count}, {1, count}}, 1);
      SetData(*loss.bottoms[0], a);
      SetData(*loss.bottoms[1], b);
      loss.layer->Forward(loss.bottoms, loss.tops);
      losses.push_back(DataOf(*loss.tops[0]).front());
      CHECK(losses.back() == Approx(expected).epsilon(1e-6));
      CHECK(losses.back() == losses.front());
    }
  }
}

TEMPLATE_TEST_CASE("ContrastiveLoss adds the squares of rows of any length", "[rows]", float, double) {
  for (const std::int64_t length : {1, 15, 16, 17, 63, 1000})
    for (const std::string& where : Places()) {
      INFO(where << ", " << length);
      const World world(where);
      const Values a = Drawn(2 * length, 8), b = Drawn(2 * length, 9);
      double squares = 0;
      for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
      Made<TestType> loss("name: 'c' type: 'ContrastiveLoss'", world.place(), {{2, length}, {2, length}, {2}},
                          1);
      SetData(*loss.bottoms[0], a);
      SetData(*loss.bottoms[1], b);
      SetData(*loss.bottoms[2], {1, 1});
      loss.layer->Forward(loss.bottoms, loss.tops);
      CHECK(DataOf(*loss.tops[0]).front() == Approx(squares / 4).epsilon(1e-6));
    }
}

TEMPLATE_TEST_CASE("Accuracy has any number of classes", "[rows]", float, double) {
  constexpr std::size_t kItems = 40, kClasses[] = {1, 3, 16, 17, 63, 64, 65, 130, 1000};
  for (const std::size_t classes : kClasses)
    for (const std::size_t top_k : {std::size_t{1}, std::min<std::size_t>(3, classes), classes}) {
      const Values x = Drawn(static_cast<std::int64_t>(kItems * classes), 10);
      Values labels;
      double right = 0;
      for (std::size_t n = 0; n < kItems; ++n) {
        // The best and the second one, too, which few numbers drawn at random are.
        const auto row = x.begin() + static_cast<std::ptrdiff_t>(n * classes);
        const auto end = row + static_cast<std::ptrdiff_t>(classes);
        const auto best = std::max_element(row, end);
        const auto second = std::max_element(
            row, end, [&](double p, double q) { return q != *best && (p == *best || p < q); });
        const std::ptrdiff_t chosen[] = {static_cast<std::ptrdiff_t>(n % classes), best - row, second - row};
        const std::ptrdiff_t label = chosen[n % 3];
        labels.push_back(static_cast<double>(label));
        const auto before = std::count_if(row, end, [&](double value) { return value >= row[label]; });
        if (static_cast<std::size_t>(before) <= top_k) ++right;
      }
      for (const std::string& where : Places()) {
        INFO(where << ", the best " << top_k << " of " << classes);
        const World world(where);
        const Shape shapes[] = {{40, static_cast<std::int64_t>(classes)}, {40}};
        Made<TestType> accuracy(
            "name: 'a' type: 'Accuracy' accuracy_param { top_k: " + std::to_string(top_k) + " }",
            world.place(), {shapes[0], shapes[1]}, 1);
        SetData(*accuracy.bottoms[0], x);
        SetData(*accuracy.bottoms[1], labels);
        accuracy.layer->Forward(accuracy.bottoms, accuracy.tops);
        CHECK(DataOf(*accuracy.tops[0]).front() == Approx(right / kItems).epsilon(1e-6));
      }
    }
}

TEMPLATE_TEST_CASE("HingeLoss has any number of classes", "[rows]", float, double) {
  for (const bool squared : {false, true})
    for (const std::int64_t classes : {1, 7, 8, 63, 64, 65, 130})
      for (const std::string& where : Places()) {
        INFO(where << ", " << classes << " classes, " << squared);
        const World world(where);
        const Values x = Drawn(3 * classes, 6);
        const std::int64_t middle = classes / 2;
        const Values labels = {0, static_cast<double>(middle), static_cast<double>(classes - 1)};
        double expected = 0;
        Values slopes;
        for (std::int64_t i = 0; i < 3 * classes; ++i) {
          const bool own = static_cast<double>(i % classes) == labels[static_cast<std::size_t>(i / classes)];
          const double t = own ? 1 : -1, margin = std::max(0.0, 1 - t * x[static_cast<std::size_t>(i)]);
          expected += squared ? margin * margin : margin;
          slopes.push_back(margin == 0 ? 0 : -t * (squared ? 2 * margin : 1) / 3);
        }
        Made<TestType> loss(std::string("name: 'h' type: 'HingeLoss' hinge_loss_param { norm: ") +
                                (squared ? "L2 }" : "L1 }"),
                            world.place(), {{3, classes}, {3}}, 1);
        SetData(*loss.bottoms[0], x);
        SetData(*loss.bottoms[1], labels);
        loss.layer->Forward(loss.bottoms, loss.tops);
        CHECK(DataOf(*loss.tops[0]).front() == Approx(expected / 3).epsilon(1e-6));
        SetDiff(*loss.tops[0], {1});
        loss.Backward();
        const Values gradient = DiffOf(*loss.bottoms[0]);
        ferry::testing::Worst worst;
        for (std::size_t i = 0; i < slopes.size(); ++i) worst.Take(std::fabs(gradient[i] - slopes[i]));
        CHECK(worst.difference() <= 1e-6);
      }
}

TEST_CASE("A layer that keeps something for Backward takes a batch that has grown", "[rows]") {
  for (const std::string type : {"EuclideanLoss", "ContrastiveLoss", "HingeLoss", "BatchNorm"})
    for (const std::string& where : Places()) {
      INFO(type << " at " << where);
      const World world(where);
      const std::size_t bottoms = type == "BatchNorm" ? 1 : type == "ContrastiveLoss" ? 3 : 2;
      const auto shapes = [&](std::int64_t items) {
        const Shape values{items, 3}, labels{items};
        const Shape all[] = {values, type == "HingeLoss" ? labels : values, labels};
        return std::vector<Shape>(all, all + bottoms);
      };
      const auto gradient = [&](Made<double>& of) {
        for (std::size_t i = 0; i < bottoms; ++i) {
          const bool labels = of.bottoms[i]->num_axes() == 1;
          const Values values = Drawn(of.bottoms[i]->count(), 11);
          SetData(*of.bottoms[i], labels ? Values(values.size(), 1) : values);
        }
        of.layer->Forward(of.bottoms, of.tops);
        SetDiff(*of.tops[0], Drawn(of.tops[0]->count(), 12));
        std::vector<bool> first(bottoms);
        first[0] = true;
        of.layer->Backward(of.tops, first, of.bottoms);
        return DiffOf(*of.bottoms[0]);
      };
      const std::string text = "name: 'l' type: '" + type + "' batch_norm_param { use_global_stats: false }";
      Made<double> grown(text, world.place(), shapes(2), 1), fresh(text, world.place(), shapes(900), 1);
      gradient(grown);
      for (std::size_t i = 0; i < bottoms; ++i) grown.bottoms[i]->Reshape(shapes(900)[i]);
      grown.layer->Reshape(grown.bottoms, grown.tops);
      CHECK((gradient(grown) == gradient(fresh)));
    }
}

TEST_CASE("A pair of ContrastiveLoss that is as far apart as the margin has no gradient", "[rows]") {
  for (const char* const legacy : {"true", "false"}) {
    const World world("host cpu");
    Made<double> loss(
        std::string("name: 'c' type: 'ContrastiveLoss' contrastive_loss_param { margin: 1 legacy_version: ") +
            legacy + " }",
        world.place(), {{1, 2}, {1, 2}, {1}}, 1);
    SetData(*loss.bottoms[0], {1, 0});
    SetData(*loss.bottoms[1], {0, 0});
    SetData(*loss.bottoms[2], {0});
    loss.layer->Forward(loss.bottoms, loss.tops);
    SetDiff(*loss.tops[0], {1});
    loss.layer->Backward(loss.tops, {true, false, false}, loss.bottoms);
    CHECK((DiffOf(*loss.bottoms[0]) == Values{0, 0}));
  }
}

TEST_CASE("BatchNorm of one value keeps a variance of 0", "[rows]") {
  const World world("host cpu");
  Made<double> norm("name: 'b' type: 'BatchNorm' batch_norm_param { use_global_stats: false }", world.place(),
                    {{1, 1}}, 1);
  SetData(*norm.bottoms[0], {3});
  norm.layer->Forward(norm.bottoms, norm.tops);
  CHECK((DataOf(*norm.layer->blobs()[1]) == Values{0}));
}

}  // namespace
}  // namespace ferry::nets_test
