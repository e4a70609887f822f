// Replies of mounted operations: status, content type, headers, faults and pace.

#include "http_reply.hpp"

#include <utility>

#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "checks.hpp"
#include "fault.hpp"
#include "pace.hpp"

namespace mock_gateway {

HttpReply::HttpReply(const Json& body) : body_(detail::share<const std::string>(body.dump())) {}

HttpReply::HttpReply(int status, const Json& body, std::string content_type)
    : HttpReply(Whole{status, body.dump(), std::move(content_type)}) {}

HttpReply::HttpReply(Failure failure) : failure_(std::move(failure)) {}

HttpReply::HttpReply(Whole whole)
    : status_(whole.status),
      body_(detail::share<const std::string>(std::move(whole.body))),
      content_type_(std::move(whole.content_type)) {
  if (status_ < 200 || status_ > 599)
    throw GatewayError("HttpReply: status " + std::to_string(status_) +
                       " is not a final status; give one from 200 to 599");
  detail::require_header_field("Content-Type", content_type_);
}

HttpReply HttpReply::header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  HttpReply changed = *this;
  if (changed.failure_) {
    changed.failure_ = changed.failure_->header(std::move(name), std::move(value));
  } else {
    changed.headers_.set(std::move(name), std::move(value));
  }
  return changed;
}

HttpReply HttpReply::add_header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  HttpReply changed = *this;
  if (changed.failure_) {
    changed.failure_ = changed.failure_->add_header(std::move(name), std::move(value));
  } else {
    changed.headers_.add(std::move(name), std::move(value));
  }
  return changed;
}

Reply HttpReply::reply_to_deliver() const {
  if (delivery_) return *delivery_;
  return failure_ ? Reply(*failure_) : raw_reply(status_, *body_, content_type_);
}

HttpReply HttpReply::fault(Trigger trigger, Effect effect) const {
  HttpReply changed = *this;
  changed.delivery_ = detail::share<const Reply>(reply_to_deliver().fault(std::move(trigger), std::move(effect)));
  return changed;
}

HttpReply HttpReply::first_token_after(Timing delay) const {
  HttpReply changed = *this;
  changed.delivery_ = detail::share<const Reply>(reply_to_deliver().first_token_after(std::move(delay)));
  return changed;
}

int HttpReply::status() const { return failure_ ? failure_->status() : status_; }

}  // namespace mock_gateway
