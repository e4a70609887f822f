// The vectors of embeddings: words, their directions, the format of numbers; the body and its usage.

#include "embeddings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "../core/random.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace vectors {

/// Words of letters, digits and non-ASCII bytes, in lower case. A text without them is one word.
std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.insert(std::move(word));
    word.clear();
  };
  for (const char c : text::lower_ascii(text)) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
    if (is_part) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  if (words.empty()) words.insert(text);
  return words;
}

std::set<std::string> words_of(const EmbeddingInput& input) {
  if (input.text) return words_of(*input.text);
  std::set<std::string> words;
  for (const std::int64_t token : input.tokens) words.insert("#" + std::to_string(token));
  return words;
}

/// Nine decimals: enough for single-precision numbers to be the same in JSON and in base64.
constexpr double decimals = 1e9;

/// Appends a number from -1 to 1, without an exponent.
void append_number(std::string& out, float number) {
  const long long scaled = std::llround(static_cast<double>(number) * decimals);
  const std::string digits = std::to_string(std::llabs(scaled) + static_cast<long long>(decimals));  // with a leading 1
  out += scaled < 0 ? "-" : "";
  out += static_cast<char>(digits[0] - 1);
  out += '.' + digits.substr(1);
}

/// Returns the numbers in single precision and little-endian order, on every machine.
std::string bytes_of(const std::vector<float>& vector) {
  std::string bytes;
  bytes.reserve(vector.size() * 4);
  for (const float number : vector) {
    std::uint32_t bits = 0;
    static_assert(sizeof bits == sizeof number, "float32");
    std::memcpy(&bits, &number, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((bits >> shift) & 0xff);
  }
  return bytes;
}

}  // namespace vectors

// Maps each word by its hash to one of `dimensions` orthogonal directions, so that shared words make texts similar.
// The directions are rows of a cosine transform: no zeros, as in vectors of real models.
std::vector<float> embedding_of(const EmbeddingInput& input, std::size_t dimensions) {
  std::vector<double> sum(dimensions);
  const double size = static_cast<double>(dimensions);
  constexpr double pi = 3.14159265358979323846;
  for (const std::string& word : vectors::words_of(input)) {
    const double row = static_cast<double>(fingerprint(word, 0) % dimensions);
    for (std::size_t i = 0; i < dimensions; ++i)
      sum[i] += row == 0 ? std::sqrt(0.5) : std::cos(pi * row * (static_cast<double>(i) + 0.5) / size);
  }
  double square = 0;
  for (const double number : sum) square += number * number;
  std::vector<float> vector;
  vector.reserve(dimensions);
  for (const double number : sum) {
    const double rounded = std::round(number / std::sqrt(square) * vectors::decimals) / vectors::decimals;
    vector.push_back(static_cast<float>(rounded));
  }
  return vector;
}

std::size_t tokens_of(const EmbeddingRequest& request, const Tokens& tokens) {
  std::size_t used = 0;
  for (const EmbeddingInput& input : request.inputs)
    used += input.text ? tokens.count(*input.text) : input.tokens.size();
  return used;
}

std::string embeddings_body(const EmbeddingRequest& request, const Tokens& tokens) {
  std::string body = R"({"object":"list","data":[)";
  for (std::size_t index = 0; index < request.inputs.size(); ++index) {
    const EmbeddingInput& input = request.inputs[index];
    const std::vector<float> vector = embedding_of(input, request.dimensions);
    body += (index == 0 ? "" : ",") + std::string(R"({"object":"embedding","index":)") + std::to_string(index);
    body += R"(,"embedding":)";
    if (request.base64) {
      body += '"' + text::base64(vectors::bytes_of(vector)) + '"';
    } else {
      for (std::size_t i = 0; i < vector.size(); ++i) {
        body += i == 0 ? '[' : ',';
        vectors::append_number(body, vector[i]);
      }
      body += ']';
    }
    body += '}';
  }
  body += R"(],"model":)";
  text::append_json_string(body, request.model);
  const std::string count = std::to_string(tokens_of(request, tokens));
  return body += R"(,"usage":{"prompt_tokens":)" + count + R"(,"total_tokens":)" + count + "}}";
}

}  // namespace mock_gateway::detail
