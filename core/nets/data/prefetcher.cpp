// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/prefetcher.hpp"

#include <utility>

#include "core/nets/prefetch.hpp"

namespace ferry::detail {
namespace {

/// Copies run beside the work of the place's own stream.
std::unique_ptr<Place> CopyPlace(const Place& place) {
  if (place.side() == Side::kCpu) return std::make_unique<Place>(place);
  return std::make_unique<Place>(Stream(place.device()));
}

bool SameNumbers(const RandomKey& a, const RandomKey& b) { return a.seed == b.seed && a.layer == b.layer; }

}  // namespace

template <class T>
auto Prefetcher<T>::MakeBatch(const std::vector<Blob<T>*>& tops) -> Batch {
  Batch batch;
  for (const Blob<T>* const top : tops) {
    batch.emplace_back(top->device());
    batch.back().Reshape(top->shape());
    if (!top->name().empty()) batch.back().set_name(top->name());
  }
  return batch;
}

template <class T>
Prefetcher<T>::Prefetcher(BatchSource<T>& source, std::size_t ahead, const std::vector<Blob<T>*>& tops,
                          const Place& place)
    : source_(source), next_{}, wanted_{}, place_(CopyPlace(place)) {
  const std::size_t count = ahead + 2;
  free_.reserve(count);
  full_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    batches_.push_back(MakeBatch(tops));
    free_.push_back(i);
  }
}

template <class T>
Prefetcher<T>::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    abandoned_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

template <class T>
void Prefetcher<T>::Restart(const RandomKey& key) {
  next_ = wanted_ = key;
  error_ = nullptr;
  ++restarts_;
  abandoned_ = true;
  free_.insert(free_.end(), full_.begin(), full_.end());
  full_.clear();
  wake_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread(&Prefetcher::Run, this);
}

template <class T>
void Prefetcher<T>::Expect(const RandomKey& key) {
  const std::lock_guard lock(mutex_);
  const bool expected = SameNumbers(wanted_, key) && wanted_.iteration == key.iteration;
  if (!expected || !thread_.joinable()) Restart(key);
}

template <class T>
void Prefetcher<T>::set_place(const Place& place) {
  auto next = CopyPlace(place);
  const std::lock_guard lock(mutex_);
  place_ = std::move(next);
}

template <class T>
void Prefetcher<T>::GiveBackPrevious() {
  if (previous_ == kNone) return;
  // The thread may write only what nobody else sees, such as a blob that a caller has made share the top.
  Batch& batch = batches_[previous_];
  for (Blob<T>& blob : batch) {
    if (blob.data().use_count() <= 1) continue;
    Blob<T> own(blob.device());
    own.Reshape(blob.shape());
    if (!blob.name().empty()) own.set_name(blob.name());
    blob = std::move(own);
  }
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::exchange(previous_, kNone));
  }
  wake_.notify_all();
}

template <class T>
void Prefetcher<T>::Take(const RandomKey& key, const std::vector<Blob<T>*>& tops) {
  Expect(key);
  GiveBackPrevious();
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return !full_.empty() || error_ != nullptr; });
  if (full_.empty()) {
    wake_.notify_all();
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  Batch& batch = batches_[full_.front()];
  for (std::size_t i = 0; i < tops.size(); ++i) {
    tops[i]->ReshapeLike(batch[i]);
    tops[i]->ShareData(batch[i]);
  }
  previous_ = std::exchange(current_, full_.front());
  full_.erase(full_.begin());
  ++wanted_.iteration;
}

template <class T>
void Prefetcher<T>::Produce(const RandomKey& key, Batch& batch, const Place& place) {
  source_.Fill(key, batch, abandoned_);
  if (abandoned_) return;
  for (const Blob<T>& blob : batch) PrefetchTo(place, blob);
}

template <class T>
void Prefetcher<T>::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopped_ || (!free_.empty() && error_ == nullptr); });
    if (stopped_) return;
    const std::size_t number = free_.back();
    free_.pop_back();
    const std::uint64_t restarts = restarts_;
    const RandomKey key = next_;
    const Place place = *place_;
    abandoned_ = false;
    lock.unlock();
    std::exception_ptr error;
    try {
      Produce(key, batches_[number], place);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    const bool current = restarts == restarts_;
    if (current && error == nullptr) {
      full_.push_back(number);
      ++next_.iteration;
    } else {
      free_.push_back(number);
      if (current) error_ = std::move(error);
    }
    ready_.notify_all();
  }
}

template class Prefetcher<float>;
template class Prefetcher<double>;

}  // namespace ferry::detail
