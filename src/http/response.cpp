// The status line, reason phrases, and the order of framing header fields.

#include "response.hpp"

namespace mock_gateway::detail {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 418: return "I'm a Teapot";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 423: return "Locked";
    case 424: return "Failed Dependency";
    case 425: return "Too Early";
    case 426: return "Upgrade Required";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 451: return "Unavailable For Legal Reasons";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    case 508: return "Loop Detected";
    case 511: return "Network Authentication Required";
    case 529: return "Site is overloaded";
    default: return "Unknown";
  }
}

std::string response_head(int status, std::string_view content_type, BodyFraming framing, std::size_t content_length,
                          const wire::Headers& headers) {
  std::string head = "HTTP/1.1 ";
  head.reserve(256);
  head.append(std::to_string(status)).append(" ").append(reason_phrase(status)).append("\r\n");
  const auto field = [&](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  // A scripted header replaces the default: a test may need a wrong one.
  if (!content_type.empty() && !headers.has("Content-Type")) field("Content-Type", content_type);
  if (framing == BodyFraming::chunked && !headers.has("Transfer-Encoding")) field("Transfer-Encoding", "chunked");
  if (framing == BodyFraming::content_length && !headers.has("Content-Length"))
    field("Content-Length", std::to_string(content_length));
  for (const wire::Header& header : headers) field(header.name, header.value);
  head.append("\r\n");
  return head;
}

}  // namespace mock_gateway::detail
