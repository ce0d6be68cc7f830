# SPDX-License-Identifier: Apache-2.0
"""Requests that no client should send: valid ones of every route, changed at random. The same seed gives the same requests."""

import json

ODD_VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    -(2**63) - 1,
    10**40,
    0.5,
    1e308,
    "",
    " ",
    "x",
    "NaN",
    "-1",
    "1e5",
    "é\u0000\ud7ff",
    "🜁" * 50,
    "s1",
    "sampling_0",
    "session_0",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"type": "encoded_text"},
    [0] * 2000,
    "a" * 5000,
]
ODD_TEXTS = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"00",
    b"1.",
    b'"\\ud800"',
    b'"\\',
    b'"\xff\xfe"',
    b"[" * 3000,
    b'{"a":' * 3000,
    b"\x00",
    b"\xef\xbb\xbf",
    b"/**/",
    b",,",
]
ODD_FIELDS = [
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding: chunked, gzip",
    b"Transfer-Encoding: identity",
    b"Content-Length: 0",
    b"Content-Length: 5, 5",
    b"Content-Length: -1",
    b"Content-Length: 1e3",
    b"Content-Length: 99999999999999999999",
    b"Content-Length : 3",
    b"Host: a, b",
    b"Host:",
    b" folded: x",
    b"no colon",
    b": no name",
    b"X: " + b"y" * 70000,
    b"X\x00Y: 1",
    b"X: \x01\x7f",
    b"Expect: 100-continue",
    b"Expect: 200-ok",
    b"Connection: close",
    b"Connection: upgrade",
    b"Upgrade: h2c",
    b"Content-Encoding: zstd",
    b"Content-Encoding: identity",
    b"Accept: application/x-protobuf",
    b"Accept: " + b"a/b," * 2000,
    b"X-Stainless-Retry-Count: -1",
    b"\xc3\xa9: 1",
]
ODD_LINES = [
    b"GET",
    b"",
    b"POST /api/v1/asample",
    b"POST  /api/v1/asample HTTP/1.1",
    b"POST /api/v1/asample HTTP/1.0",
    b"POST /api/v1/asample HTTP/2.0",
    b"POST /api/v1/asample HTTP/9.9",
    b"post /api/v1/asample HTTP/1.1",
    b"PRI * HTTP/2.0",
    b"OPTIONS * HTTP/1.1",
    b"CONNECT x:1 HTTP/1.1",
    b"GET http://x/api/v1/healthz HTTP/1.1",
    b"GET /api/v1/%68ealthz HTTP/1.1",
    b"GET /%00%zz HTTP/1.1",
    b"GET /../.. HTTP/1.1",
    b"GET /" + b"a" * 70000 + b" HTTP/1.1",
    b"GET /api/v1/samplers/%2e%2e%2f HTTP/1.1",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"G\x00T / HTTP/1.1",
]


def valid_requests(sampler, session):
    """(method, path, body) of every route; a body is an object or None."""
    prompt = {"chunks": [{"type": "encoded_text", "tokens": [1, 2, 3]}, {"tokens": [4]}]}
    params = {"max_tokens": 4, "seed": 1, "stop": ["a"], "temperature": 1.0, "top_k": -1, "top_p": 1.0}
    sample = {
        "num_samples": 1,
        "prompt": prompt,
        "sampling_params": params,
        "sampling_session_id": sampler,
        "seq_id": 1,
        "prompt_logprobs": False,
        "topk_prompt_logprobs": 0,
        "type": "sample",
    }
    posts = {
        "asample": sample,
        "retrieve_future": {"request_id": "s1", "allow_metadata_only": True},
        "cancel_future": {"request_id": "s1"},
        "client/config": {"sdk_version": "0.38.0"},
        "client/dynamic_config": {"sdk_version": "0.38.0"},
        "create_session": {"tags": ["a"], "user_metadata": {"b": [1]}, "sdk_version": "1", "type": "create_session"},
        "session_heartbeat": {"session_id": session, "type": "session_heartbeat"},
        f"sessions/{session}/finish": {"reason": {"type": "success"}, "detail": None},
        "create_sampling_session": {"session_id": session, "sampling_session_seq_id": 0, "base_model": "tiny"},
        "join_sampling_session": {"sampling_session_id": sampler, "type": "join_sampling_session"},
        "telemetry": {"events": [{"event": "GENERIC_EVENT"}], "session_id": session},
    }
    gets = ["/", "/api/v1/healthz", "/api/v1/get_server_capabilities", f"/api/v1/samplers/{sampler}"]
    return [("POST", f"/api/v1/{name}", body) for name, body in posts.items()] + [("GET", path, None) for path in gets]


def http_request(method, path, body=b"", fields=()):
    head = [
        f"{method} {path} HTTP/1.1".encode(),
        b"Host: x",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        *fields,
    ]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def mutated_body(request, random):
    """A value somewhere in the JSON is replaced, removed, renamed or repeated; now and then by what is no JSON."""
    method, path, body = request
    body = json.loads(json.dumps(body if body is not None else {}))
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        place = random.choice(list(containers(body)))
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = random.choice(keys) if keys else None
        kind = random.randrange(5)
        if key is None or kind == 0:
            (
                place.update({random.choice(("x", "type", "tokens", "seed")): odd(random)})
                if isinstance(place, dict)
                else place.append(odd(random))
            )
        elif kind == 1:
            del place[key]
        elif kind == 2 and isinstance(place, dict):
            place[str(key) + "x"] = place.pop(key)
        else:
            place[key] = odd(random)
    text = json.dumps(body, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    if random.random() < 0.3:
        at = random.randrange(len(text))
        text = text[:at] + random.choice(ODD_TEXTS) + text[at + random.randrange(8) :]
    return http_request(method, path, text)


def mutated_head(request, random):
    """The request line or the header fields are replaced, removed, repeated or joined by odd ones."""
    method, path, body = request
    body = b"" if body is None else json.dumps(body).encode()
    head, body = http_request(method, path, body).split(b"\r\n\r\n", 1)
    lines = head.split(b"\r\n")
    for _ in range(random.choice((1, 1, 2, 4))):
        kind, at = random.randrange(5), random.randrange(len(lines))
        if kind == 0:
            lines[0] = random.choice(ODD_LINES)
        elif kind == 1 and len(lines) > 1:
            del lines[at]
        elif kind == 2:
            lines.insert(at, lines[at])
        else:
            lines.insert(random.randrange(1, len(lines) + 1), random.choice(ODD_FIELDS))
    return random.choice((b"\r\n", b"\r\n", b"\r\n", b"\n")).join(lines) + b"\r\n\r\n" + body


def mutated_bytes(request, random):
    """Bytes are flipped, cut, repeated or put in anywhere, several requests in a row."""
    method, path, body = request
    data = bytearray(http_request(method, path, b"" if body is None else json.dumps(body).encode()) * random.choice((1, 1, 2)))
    for _ in range(random.choice((1, 2, 4, 16))):
        at, length = random.randrange(len(data) + 1), random.randrange(1, 20)
        kind = random.randrange(4)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = data[at : at + length]
        else:
            data[at:at] = random.randbytes(length)
    return bytes(data)


def containers(value):
    """Every object and array within, the whole included."""
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers(inner)


def odd(random):
    return json.loads(json.dumps(random.choice(ODD_VALUES)))
