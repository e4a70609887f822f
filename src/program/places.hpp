#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>

#include "../http/connection.hpp"
#include "http_server.hpp"

namespace mock_gateway::internal {

/// The places for connections of the control API. Where all are taken, the connection whose client has left it unused
/// for the longest time is closed for the next one, without waiting for that client. So nobody is kept out by
/// connections that send nothing, or a part of a head, or have not shown the token. Thread-safe.
class Places {
 public:
  /// A connection's place, from its acceptance until it is closed.
  class Place {
   public:
    explicit Place(Places& places) : places_(places) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Its thread serves it from now on.
    void begin(std::shared_ptr<detail::StopLine> line);
    /// A request has begun to come.
    void begin_request();
    /// It has a request of whoever may use the API, and is not closed until release(). False: it has been closed
    /// already, and nobody would get the answer.
    bool hold();
    /// It has had its answer, and waits for its next request. It has been unused since before that answer was sent, so
    /// that the connections' clients see their answers in the order in which the connections are closed for others.
    void release(std::chrono::steady_clock::time_point answered);
    /// It only waits for its client to read the last answer: it is closed before all others.
    void leave();

   private:
    friend class Places;
    enum class State { starting, idle, reading, held, leaving, closed };

    void become(State state, std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now());

    Places& places_;
    State state_ = State::closed;                                                     // until it is open
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();  // it has been unused
    std::shared_ptr<detail::StopLine> line_;
  };

  static constexpr std::size_t most = 64;
  /// How many that were closed for others may still have a descriptor.
  static constexpr std::size_t most_closed = 16;

  /// A place for a connection that has been accepted; null when requests are being answered on all of them and none is
  /// about to have its answer, and at the end. It may wait for threads of this program to get to what they have, and
  /// never for a client.
  std::shared_ptr<Place> take();
  /// Closes a connection that is not in use, where there is one, and waits until its descriptor is free. False when
  /// that is none's.
  bool free_a_descriptor();
  /// Nobody gets a place any more, nor waits for one.
  void end();

 private:
  // All expect the mutex to be held.
  /// The one to be closed next; null when each is in use. Unless `any`, those are left out to which a whole head may
  /// have come that their threads have not got to yet.
  Place* unused(bool any) const;
  /// Whether a thread is about to have an answer: more are at work, and wait for no client, than may wait for something
  /// to happen.
  bool answers_soon() const;
  void close(Place& place);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Place*> places_;
  std::size_t open_ = 0;  // of them, those that are not closed
  bool ended_ = false;
};

}  // namespace mock_gateway::internal
