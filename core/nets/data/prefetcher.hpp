// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/nets/random.hpp"
#include "ferry/place.hpp"

namespace ferry::detail {

/// Where batches come from. One thread at a time calls.
template <class T>
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  /// The shapes of the first batch.
  virtual std::vector<Shape> Shapes(const RandomKey& key) = 0;
  /// Gives the blobs their shapes and, on the host, the elements of the batch number key.iteration, which are
  /// a function of the key. May leave the batch half done once `abandoned` is true.
  virtual void Fill(const RandomKey& key, std::vector<Blob<T>>& batch,
                    const std::atomic<bool>& abandoned) = 0;

 protected:
  BatchSource() = default;
};

/// Reads batches ahead, on a thread of its own, and starts them on their way to where they are needed.
///
/// What the source or the device throws there, Take throws in its place; the Take after it tries that batch
/// again. Calls are for one thread at a time. The end of a prefetcher waits for the item that is being read.
template <class T>
class Prefetcher {
 public:
  /// `ahead` + 1 batches of blobs for these tops are read ahead or in use, and one more waits until nothing
  /// sees it any more. The source and the tops' devices must outlive the prefetcher.
  Prefetcher(BatchSource<T>& source, std::size_t ahead, const std::vector<Blob<T>*>& tops,
             const Place& place);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Batches are wanted from this one on. Nothing happens where they are already.
  void Expect(const RandomKey& key);
  /// Where the following batches are needed.
  void set_place(const Place& place);
  /// The tops become the batch of that key: they share its storage until the next call.
  void Take(const RandomKey& key, const std::vector<Blob<T>*>& tops);

 private:
  using Batch = std::vector<Blob<T>>;

  static Batch MakeBatch(const std::vector<Blob<T>*>& tops);
  /// With the lock.
  void Restart(const RandomKey& key);
  void GiveBackPrevious();
  void Run();
  /// Fills the batch and starts its copies.
  void Produce(const RandomKey& key, Batch& batch, const Place& place);

  BatchSource<T>& source_;
  std::vector<Batch> batches_;
  std::vector<std::size_t> free_, full_;  ///< numbers of batches; with room for all
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t current_ = kNone;   ///< that the tops share
  std::size_t previous_ = kNone;  ///< that layers behind the tops may still share

  std::mutex mutex_;  ///< of all that follows, and of free_ and full_
  std::condition_variable wake_, ready_;
  RandomKey next_;                ///< to be filled
  RandomKey wanted_;              ///< to be taken; as next_, except for the iteration
  std::unique_ptr<Place> place_;  ///< with a stream for the copies
  std::exception_ptr error_;      ///< of batch next_
  bool stopped_ = false;
  std::uint64_t restarts_ = 0;
  std::atomic<bool> abandoned_ = false;  ///< the batch that is being filled
  std::thread thread_;                   ///< the last member: it uses the others
};

extern template class Prefetcher<float>;
extern template class Prefetcher<double>;

}  // namespace ferry::detail
