#include "chat_script.hpp"

#include "../core/error.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

MOCK_GATEWAY_INLINE Wait Stub::wait_for_calls(std::size_t count, Duration timeout) const {
  const bool reached = journal_->wait(timeout, [&] { return state_->recorded() >= count; });
  const std::string message = state_->describe() + " has answered " + std::to_string(state_->recorded()) + " of " +
                              std::to_string(count) + " requests";
  return reached ? Wait::fulfilled(message) : Wait::timed_out(message);
}

MOCK_GATEWAY_INLINE Exchange Stub::last_call() const {
  if (auto record = journal_->last_of_stub(state_->id())) return Exchange(std::move(record));
  throw GatewayError("Stub::last_call: the journal holds no call of " + state_->describe() +
                     "; wait_for_calls waits for one");
}

MOCK_GATEWAY_INLINE StubBuilder::StubBuilder(std::shared_ptr<detail::Script> script,
                                             std::shared_ptr<detail::JournalState> journal, SourceLocation where)
    : script_(std::move(script)), journal_(std::move(journal)) {
  plan_.where = where;
}

MOCK_GATEWAY_INLINE StubBuilder::StubBuilder(StubBuilder&&) noexcept = default;
MOCK_GATEWAY_INLINE StubBuilder::~StubBuilder() = default;

MOCK_GATEWAY_INLINE StubBuilder StubBuilder::at_most(std::size_t count) && {
  if (count == 0) throw GatewayError("at_most(0): a stub that may never answer is no stub; leave it out");
  plan_.at_most = count;
  return std::move(*this);
}

MOCK_GATEWAY_INLINE StubBuilder StubBuilder::named(std::string name) && {
  plan_.name = std::move(name);
  return std::move(*this);
}

MOCK_GATEWAY_INLINE void StubBuilder::add(Reply reply) {
  plan_.replies.emplace_back(std::make_shared<const Reply>(std::move(reply)));
}

MOCK_GATEWAY_INLINE void StubBuilder::add(ReplyFunction function) { plan_.replies.emplace_back(std::move(function)); }

MOCK_GATEWAY_INLINE Stub StubBuilder::mount() { return Stub(script_->mount(std::move(plan_)), journal_); }

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
