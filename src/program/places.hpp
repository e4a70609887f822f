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

/// A pool of connection slots of the control API. If all are taken, a new connection closes the one that its client has
/// left unused longest, without waiting for that client. So connections that send nothing, an incomplete head or no
/// token cannot block others. Thread-safe.
class Places {
 public:
  /// A slot of a connection, from its acceptance until it is closed.
  class Place {
   public:
    explicit Place(Places& places) : places_(places) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Notes that its thread begins to serve it.
    void begin(std::shared_ptr<detail::StopLine> line);
    /// Notes that a request has begun to arrive.
    void begin_request();
    /// Protects the connection, which has an authorized request, from being closed until release(). Returns false if it
    /// has been closed already, so that the client cannot get the answer.
    bool hold();
    /// Notes that the answer was sent and the connection waits for its next request. Idle time counts from `answered`,
    /// before sending, so that connections are closed in the order in which clients see their answers.
    void release(std::chrono::steady_clock::time_point answered);
    /// Notes that it only waits for its client to read the last answer: it is closed first.
    void leave();

   private:
    friend class Places;
    enum class State { starting, idle, reading, held, leaving, closed };

    void become(State state, std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now());

    Places& places_;
    State state_ = State::closed;                                                     // until take() returns it
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();  // start of its idle time
    std::shared_ptr<detail::StopLine> line_;
  };

  static constexpr std::size_t most = 64;
  /// The maximum number of closed connections that still have a descriptor.
  static constexpr std::size_t most_closed = 16;

  /// Returns a slot for an accepted connection. Returns null after end(), or if requests are being answered on all
  /// connections and none is about to finish. May wait for other threads of the program, never for a client.
  std::shared_ptr<Place> take();
  /// Closes an unused connection and waits until its descriptor is free. Returns false if there is no unused one.
  bool free_a_descriptor();
  /// Ends all waits. Later calls of take() return null.
  void end();

 private:
  // The caller must hold the mutex.
  /// Returns the connection to be closed next; null if all are in use. Unless `any`, skips those that may have received
  /// a whole head that their thread has not processed yet.
  Place* unused(bool any) const;
  /// Whether an answer is about to be finished: more threads are working, without waiting for a client, than may wait
  /// for events.
  bool answers_soon() const;
  void close(Place& place);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Place*> places_;
  std::size_t open_ = 0;  // how many of them are not closed
  bool ended_ = false;
};

}  // namespace mock_gateway::internal
