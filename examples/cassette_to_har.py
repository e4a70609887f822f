"""Converts a cassette of vcrpy or go-vcr to a HAR file, which `mock-gateway import` turns into a script.

Usage: cassette_to_har.py CASSETTE > recorded.har. Needs PyYAML, except for cassettes in JSON. Decompresses gzip and
deflate, since keys in compressed bodies cannot be masked.
"""

import base64
import gzip
import json
import sys
import zlib


def bytes_of(body):
    """Returns the bytes of a body, or None. vcrpy wraps it in an object; go-vcr does not."""
    if isinstance(body, dict) and "base64_string" in body:
        return base64.b64decode(body["base64_string"])
    if isinstance(body, dict):
        body = body.get("string")
    return body.encode() if isinstance(body, str) else body


def fields(headers):
    """Returns header fields as in a HAR file. A cassette has a value or a list of values for each name."""
    return [{"name": name, "value": value} for name, values in (headers or {}).items()
            for value in (values if isinstance(values, list) else [values])]


def decompressed(body, headers):
    coding = "".join(field["value"] for field in headers if field["name"].lower() == "content-encoding").lower()
    if coding in ("", "identity") or (coding == "gzip" and body[:2] != b"\x1f\x8b"):
        return body
    if coding not in ("gzip", "deflate"):
        sys.exit(f"cassette_to_har.py: a body is compressed with {coding}; record it again without compression")
    return gzip.decompress(body) if coding == "gzip" else zlib.decompress(body)


def entry(interaction):
    request, response = interaction["request"], interaction["response"]
    status = response.get("status")
    code = response.get("code") or response.get("status_code") or (status["code"] if isinstance(status, dict) else 0)
    headers = fields(response.get("headers"))
    body = bytes_of(response.get("body", response.get("content")))
    content = {"size": -1} if body is None else {
        "text": base64.b64encode(decompressed(body, headers)).decode(), "encoding": "base64"}
    return {"request": {"method": request["method"], "url": request.get("uri") or request["url"],
                        "headers": fields(request.get("headers")),
                        "postData": {"text": (bytes_of(request.get("body")) or b"").decode(errors="replace")}},
            "response": {"status": code, "headers": headers, "content": content}}


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.lstrip().startswith("{"):
        cassette = json.loads(text)
    else:
        import yaml
        cassette = yaml.safe_load(text)
    json.dump({"log": {"version": "1.2", "entries": [entry(one) for one in cassette["interactions"]]}}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
