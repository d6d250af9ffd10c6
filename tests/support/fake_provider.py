# SPDX-License-Identifier: MIT
"""A model provider for tests: Anthropic Messages, OpenAI Chat Completions and Responses, Gemini.

    fake_provider.py [--script FILE] [--key KEY] [--tls CERTIFICATE PRIVATE_KEY]

It listens on a free loopback port and prints one line, "PORT n". It is strict: what the real servers
reject is rejected with their status and body. What it answers is scripted:

    {"rules": [{"contains": "text", "model": "id", "steps": [STEP, …]}, …]}

The first rule that fits the request (whose `contains` is somewhere in the prompt) answers with its next
step; the last step repeats. A fenced answer is sent as an object where the request binds answers to a
JSON schema. A step:

    text, file        the answer (file: relative to the script)
    stop              stop | length | refusal | filter | odd
    usage             {"in", "out", "cache_read", "cache_write", "reasoning"}; null: none is told;
                      absent: a token every four characters
    cost              USD, as OpenRouter tells it
    model             the model that is said to have answered
    status, body      an error: HTTP status with a JSON value or a text as body
    error             the provider's own error of that name (table ERRORS below)
    headers           more header fields; a list of values sends the field so often
    mode              how the answer is sent; see send_answer
    at, ms            for some modes: after so many bytes, for so long
    chunk, pause      bytes a write (0: all at once), ms between two
    unbound           the answer is sent as it stands, also where the request asks for a JSON schema
    crlf, pings, stream  line ends of events, comments between them, force a stream or a whole reply

GET or POST /_log lists the requests served, POST /_script replaces the script.
"""
import argparse
import gzip
import json
import pathlib
import re
import socket
import ssl
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fake_models

LOCK = threading.Lock()


class Refusal(Exception):
    """The request breaks the protocol."""

    def __init__(self, status, kind, message, param=None):
        super().__init__(message)
        self.status, self.kind, self.message, self.param = status, kind, message, param


def need(truth, status, kind, message, param=None):
    if not truth:
        raise Refusal(status, kind, message, param)


def fit(kind, check, *facts):
    """Asks fake_models; gives the schema that answers are bound to, or None."""
    try:
        return check(*facts)
    except fake_models.Unfit as unfit:
        code = unfit.code if unfit.code != "invalid_request_error" else None
        raise Refusal(400, kind, str(unfit), code) from None


def want_text(value, where):
    need(isinstance(value, str) and value != "", 400, "invalid_request_error", f"{where}: must be text")
    return value


# ---- the four protocols: check a request, give its prompt; write a reply, its events, an error ----
class Anthropic:
    name = "anthropic"
    FIELDS = {"model", "max_tokens", "messages", "system", "stop_sequences", "stream", "thinking",
              "output_config", "tools", "tool_choice", "metadata", "service_tier", "cache_control",
              "inference_geo"}
    STOPS = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal",
             "odd": "bored"}
    ERRORS = {
        "auth": (401, "authentication_error", "invalid x-api-key", None),
        "quota": (429, "rate_limit_error", "spend limit", {"error_code": "enforced_spend_limit_reached"}),
        "rate_limit": (429, "rate_limit_error", "slow down", None),
        "overloaded": (529, "overloaded_error", "Overloaded", None),
        "timeout": (504, "timeout_error", "timed out", None),
        "server": (500, "api_error", "Internal server error", None),
        "request": (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", None),
    }

    def authenticate(self, headers, key):
        given = headers.get("x-api-key") or (headers.get("authorization") or "").removeprefix("Bearer ")
        need(given == key, 401, "authentication_error", "invalid x-api-key")

    def check(self, path, headers, body):
        version = headers.get("anthropic-version")
        need(version in ("2023-06-01", "2026-10-21"), 400, "invalid_request_error",
             "anthropic-version: header is required")
        for field in body:
            need(field in self.FIELDS or (version == "2023-06-01" and field in
                                          ("temperature", "top_p", "top_k")),
                 400, "invalid_request_error", f"{field}: Extra inputs are not permitted")
        want_text(body.get("model"), "model")
        need(isinstance(body.get("max_tokens"), int) and body["max_tokens"] > 0, 400,
             "invalid_request_error", "max_tokens: Field required")
        need(body.get("stream") or body["max_tokens"] <= 21333, 400, "invalid_request_error",
             "max_tokens: streaming is required above 21333")
        messages = body.get("messages")
        need(isinstance(messages, list) and messages, 400, "invalid_request_error",
             "messages: at least one message is required")
        need(messages[-1].get("role") == "user", 400, "invalid_request_error",
             "This model does not support assistant message prefill.")
        texts = []
        for message in messages:
            need(message.get("role") in ("user", "assistant"), 400, "invalid_request_error",
                 "messages: unexpected role")
            texts += self.blocks(message.get("content"), "messages: text content blocks must be non-empty")
        if "system" in body:
            texts += self.blocks(body["system"], "system: text content blocks must be non-empty")
        schema = fit("invalid_request_error", fake_models.anthropic, body["model"], version, body)
        return body["model"], "\n".join(texts), bool(body.get("stream")), schema

    def blocks(self, content, complaint):
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        need(isinstance(blocks, list) and all(isinstance(b, dict) and b.get("text") for b in blocks),
             400, "invalid_request_error", complaint)
        return [b["text"] for b in blocks]

    def usage(self, step, text):
        told = step["usage"]
        if told is None:
            return {}
        return {"input_tokens": told.get("in", 0), "output_tokens": told.get("out", 0),
                "cache_creation_input_tokens": told.get("cache_write", 0),
                "cache_read_input_tokens": told.get("cache_read", 0),
                "output_tokens_details": {"thinking_tokens": told.get("reasoning", 0)},
                "service_tier": "standard"}

    def whole(self, step, model, text):
        return {"id": "msg_fake", "type": "message", "role": "assistant", "model": model,
                "content": [{"type": "thinking", "thinking": "", "signature": "c2ln"},
                            {"type": "text", "text": text, "citations": None}],
                "stop_reason": self.STOPS[step.get("stop", "stop")], "stop_sequence": None,
                "stop_details": None, "container": None, "usage": self.usage(step, text)}

    def events(self, step, model, text):
        usage = self.usage(step, text)
        start = dict(self.whole(step, model, text), content=[], stop_reason=None,
                     usage={**usage, "output_tokens": 1} if usage else {})
        yield "message_start", {"message": start}
        yield "content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": "",
                                                                     "signature": ""}}
        yield "content_block_delta", {"index": 0, "delta": {"type": "signature_delta", "signature": "cw=="}}
        yield "content_block_stop", {"index": 0}
        yield "ping", {}
        yield "content_block_start", {"index": 1, "content_block": {"type": "text", "text": ""}}
        for piece in pieces(text):
            yield "content_block_delta", {"index": 1, "delta": {"type": "text_delta", "text": piece}}
        yield "content_block_stop", {"index": 1}
        yield "message_delta", {"delta": {"stop_reason": self.STOPS[step.get("stop", "stop")],
                                          "stop_sequence": None},
                                "usage": {"output_tokens": usage["output_tokens"]} if usage else {}}
        yield "message_stop", {}

    def event(self, name, data):
        return name, json.dumps({"type": name, **data})

    def last(self):
        return None

    def error(self, status, kind, message, extra):
        error = {"type": kind, "message": message}
        if isinstance(extra, dict):
            error["details"] = extra
        return {"type": "error", "error": error, "request_id": "req_fake"}

    def error_event(self, kind, message, extra):
        return "error", json.dumps(self.error(200, kind, message, extra))


class Chat:
    name = "chat"
    COMPAT = {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options",
              "temperature", "top_p", "seed", "stop", "n", "response_format", "tools", "tool_choice",
              "user", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty",
              "reasoning_effort", "reasoning", "provider"}
    OPENAI = COMPAT - {"reasoning", "provider"} | {"store", "verbosity", "service_tier", "prompt_cache_key",
                       "metadata", "parallel_tool_calls", "safety_identifier"}
    STOPS = {"stop": "stop", "length": "length", "refusal": "stop", "filter": "content_filter",
             "odd": "tool_calls"}
    ERRORS = {
        "auth": (401, "invalid_request_error", "Incorrect API key provided: %KEY%", "invalid_api_key"),
        "quota": (429, "insufficient_quota", "You exceeded your current quota", "insufficient_quota"),
        "rate_limit": (429, "tokens", "Rate limit reached", "rate_limit_exceeded"),
        "overloaded": (503, "service_unavailable_error", "Overloaded", "server_is_overloaded"),
        "timeout": (504, "server_error", "timed out", None),
        "server": (500, "server_error", "The server had an error", None),
        "request": (400, "invalid_request_error", "maximum context length", "context_length_exceeded"),
        "refused": (400, "invalid_request_error", "flagged", "content_policy_violation"),
    }

    def authenticate(self, headers, key):
        need(headers.get("authorization") == f"Bearer {key}", 401, "invalid_request_error",
             f"Incorrect API key provided: {headers.get('authorization')}", "invalid_api_key")

    def check(self, path, headers, body):
        reasoning = re.match(r"(o\d|gpt-5|gpt-6)", str(body.get("model")))
        openai = re.match(r"(o\d|gpt-)", str(body.get("model")))
        for field in body:
            need(field in (self.OPENAI if openai else self.COMPAT), 400, "invalid_request_error",
                 f"Unrecognized request argument supplied: {field}", "unknown_parameter")
        if reasoning:
            need("max_tokens" not in body, 400, "invalid_request_error",
                 "Unsupported parameter: 'max_tokens'", "unsupported_parameter")
        need("stream_options" not in body or body.get("stream"), 400, "invalid_request_error",
             "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
        want_text(body.get("model"), "model")
        need(isinstance(body.get("messages"), list) and body["messages"], 400, "invalid_request_error",
             "messages: too short")
        texts = []
        for message in body["messages"]:
            need(message.get("role") in ("system", "developer", "user", "assistant"), 400,
                 "invalid_request_error", "messages: unexpected role")
            texts.append(want_text(message.get("content"), "messages: content"))
        schema = None
        if openai:
            schema = fit("invalid_request_error", fake_models.openai, body["model"],
                         body.get("reasoning_effort"), "temperature" in body or "top_p" in body, True,
                         body.get("response_format", {}).get("json_schema"))
        return body["model"], "\n".join(texts), bool(body.get("stream")), schema

    def tells_usage(self, body):
        return not body.get("stream") or body.get("stream_options", {}).get("include_usage", False)

    def usage(self, step):
        told = step["usage"]
        if told is None:
            return None
        cached, written = told.get("cache_read", 0), told.get("cache_write", 0)
        usage = {"prompt_tokens": told.get("in", 0) + cached + written,
                 "completion_tokens": told.get("out", 0),
                 "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
                 "completion_tokens_details": {"reasoning_tokens": told.get("reasoning", 0)}}
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        if "cost" in step:
            usage["cost"] = step["cost"]
        return usage

    def base(self, model, kind):
        return {"id": "chatcmpl-fake", "object": kind, "created": 1796000000, "model": model,
                "system_fingerprint": "fp_fake", "service_tier": "default"}

    def whole(self, step, model, text):
        refused = step.get("stop") == "refusal"
        message = {"role": "assistant", "content": None if refused else text,
                   "refusal": text if refused else None, "annotations": []}
        return {**self.base(model, "chat.completion"), "usage": self.usage(step),
                "choices": [{"index": 0, "message": message, "logprobs": None,
                             "finish_reason": self.STOPS[step.get("stop", "stop")]}]}

    def events(self, step, model, text):
        def chunk(delta, finish=None):
            return None, {**self.base(model, "chat.completion.chunk"), "usage": None,
                          "obfuscation": "xx",
                          "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        key = "refusal" if step.get("stop") == "refusal" else "content"
        yield chunk({"role": "assistant", "content": ""})
        for piece in pieces(text):
            yield chunk({key: piece})
        yield chunk({}, self.STOPS[step.get("stop", "stop")])
        if step["usage"] is not None:
            yield None, {**self.base(model, "chat.completion.chunk"), "choices": [],
                         "usage": self.usage(step)}

    def event(self, name, data):
        return name, json.dumps(data)

    def last(self):
        return "[DONE]"

    def error(self, status, kind, message, extra):
        return {"error": {"message": message, "type": kind, "param": None, "code": extra}}

    def error_event(self, kind, message, extra):
        return None, json.dumps(self.error(200, kind, message, extra))


class Responses(Chat):
    name = "responses"
    tells_usage = staticmethod(lambda body: True)
    FIELDS = {"model", "input", "instructions", "max_output_tokens", "reasoning", "text", "tools",
              "tool_choice", "parallel_tool_calls", "store", "include", "previous_response_id",
              "prompt_cache_key", "prompt_cache_options", "truncation", "service_tier", "background",
              "metadata", "stream", "temperature", "top_p"}

    def check(self, path, headers, body):
        for field in body:
            need(field in self.FIELDS, 400, "invalid_request_error", f"Unknown parameter: '{field}'.",
                 "unknown_parameter")
        want_text(body.get("model"), "model")
        need(body.get("max_output_tokens", 16) >= 16, 400, "invalid_request_error",
             "max_output_tokens: below minimum", "integer_below_min_value")
        texts = [body.get("instructions") or ""]
        items = body.get("input")
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        need(isinstance(items, list) and items, 400, "invalid_request_error", "input is required")
        for item in items:
            content = item.get("content")
            if isinstance(content, list):
                content = "".join(part.get("text", "") for part in content)
            texts.append(want_text(content, "input: content"))
        form = body.get("text", {}).get("format", {"type": "text"})
        schema = fit("invalid_request_error", fake_models.openai, body["model"],
                     body.get("reasoning", {}).get("effort"), "temperature" in body or "top_p" in body, False,
                     form if form["type"] == "json_schema" else None)
        return body["model"], "\n".join(texts), bool(body.get("stream")), schema

    def usage(self, step):
        told = step["usage"]
        if told is None:
            return None
        cached, written = told.get("cache_read", 0), told.get("cache_write", 0)
        total = told.get("in", 0) + cached + written
        return {"input_tokens": total, "output_tokens": told.get("out", 0),
                "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
                "output_tokens_details": {"reasoning_tokens": told.get("reasoning", 0)},
                "total_tokens": total + told.get("out", 0)}

    def whole(self, step, model, text):
        stop = step.get("stop", "stop")
        part = ({"type": "refusal", "refusal": text} if stop == "refusal" else
                {"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        reasons = {"length": "max_output_tokens", "filter": "content_filter", "odd": "steered"}
        reason = reasons.get(stop)

        def message(number, phase, part):
            return {"type": "message", "id": f"msg_{number}", "role": "assistant",
                    "status": "completed", "phase": phase, "content": [part]}
        return {"id": "resp_fake", "object": "response", "created_at": 1796000000,
                "status": "incomplete" if reason else "completed", "error": None,
                "incomplete_details": {"reason": reason} if reason else None, "model": model,
                "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": None,
                "tool_choice": "auto", "tools": [], "top_p": None,
                "output": [{"type": "reasoning", "id": "rs_fake", "summary": []},
                           message(1, "commentary", {"type": "output_text", "text": "I think …",
                                                     "annotations": [], "logprobs": []}),
                           message(2, "final_answer", part)],
                "usage": self.usage(step)}

    def events(self, step, model, text):
        response = self.whole(step, model, text)
        bare = {**response, "status": "in_progress", "output": [], "usage": None}
        item, number = response["output"][2], 0
        kind = "refusal" if step.get("stop") == "refusal" else "output_text"
        where = {"item_id": item["id"], "output_index": 2, "content_index": 0}

        def event(name, **data):
            nonlocal number
            number += 1
            return name, {"type": name, "sequence_number": number - 1, **data}
        yield event("response.created", response=bare)
        yield event("response.in_progress", response=bare)
        yield event("response.output_item.added", output_index=2, item={**item, "content": []})
        yield event("response.content_part.added", part={"type": "output_text", "text": "",
                                                         "annotations": []}, **where)
        for piece in pieces(text):
            extra = {"logprobs": []} if kind == "output_text" else {}
            yield event(f"response.{kind}.delta", delta=piece, **extra, **where)
        yield event("response.output_item.done", output_index=2, item=item)
        last = "completed" if response["status"] == "completed" else "incomplete"
        yield event(f"response.{last}", response=response)

    def last(self):
        return None

    def error_event(self, kind, message, extra):
        return "error", json.dumps({"type": "error", "code": extra or kind, "message": message,
                                    "param": None, "sequence_number": 9})


class Gemini:
    name = "gemini"
    FIELDS = {"contents", "systemInstruction", "generationConfig", "safetySettings", "tools",
              "toolConfig", "cachedContent", "serviceTier", "store"}
    STOPS = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY", "filter": "SAFETY",
             "odd": "MALFORMED_RESPONSE"}
    PREFIX = "type.googleapis.com/google.rpc."
    ERRORS = {
        "auth": (400, "INVALID_ARGUMENT", "API key not valid.",
                 [{"@type": PREFIX + "ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]),
        "quota": (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota",
                  [{"@type": PREFIX + "QuotaFailure", "violations": [
                      {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
                   {"@type": PREFIX + "RetryInfo", "retryDelay": "37s"}]),
        "rate_limit": (429, "RESOURCE_EXHAUSTED", "slow down",
                       [{"@type": PREFIX + "QuotaFailure", "violations": [
                           {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]},
                        {"@type": PREFIX + "RetryInfo", "retryDelay": "0.05s"}]),
        "overloaded": (503, "UNAVAILABLE", "The model is overloaded.", []),
        "timeout": (504, "DEADLINE_EXCEEDED", "timed out", []),
        "server": (500, "INTERNAL", "An internal error has occurred.", []),
        "request": (400, "INVALID_ARGUMENT", "exceeds the maximum number of tokens", []),
    }

    def authenticate(self, headers, key):
        need(headers.get("x-goog-api-key") == key, 400, "INVALID_ARGUMENT", "API key not valid.",
             self.ERRORS["auth"][3])

    def check(self, path, headers, body):
        match = re.fullmatch(r"/(?:v1|v1beta)/models/([^/:?]+):(generateContent|streamGenerateContent)"
                             r"(\?alt=sse)?", path)
        need(match, 404, "NOT_FOUND", "no such method")
        need(bool(match[3]) == (match[2] == "streamGenerateContent"), 400, "INVALID_ARGUMENT", "alt=sse")
        for field in body:
            need(field in self.FIELDS, 400, "INVALID_ARGUMENT", f'Unknown name "{field}"')
        model, rules = match[1], body.get("generationConfig", {})
        if model.startswith("gemini-4"):
            for field in ("presencePenalty", "frequencyPenalty"):
                need(field not in rules, 400, "INVALID_ARGUMENT", f"{field} is not supported")
        texts = []
        contents = body.get("contents")
        need(isinstance(contents, list) and contents, 400, "INVALID_ARGUMENT",
             "contents is not specified")
        for content in [*contents, body.get("systemInstruction", {"parts": []})]:
            need(content.get("role", "user") in ("user", "model"), 400, "INVALID_ARGUMENT",
                 "Please use a valid role: user, model.")
            for part in content.get("parts", []):
                need(isinstance(part.get("text"), str), 400, "INVALID_ARGUMENT", "part without data")
                texts.append(part["text"])
        schema = fit("INVALID_ARGUMENT", fake_models.gemini, model, rules)
        return model, "\n".join(texts), match[2] == "streamGenerateContent", schema

    def usage(self, step):
        told = step["usage"]
        if told is None:
            return {}
        reasoning, cached = told.get("reasoning", 0), told.get("cache_read", 0)
        counts = {"promptTokenCount": told.get("in", 0) + cached, "cachedContentTokenCount": cached,
                  "candidatesTokenCount": told.get("out", 0) - reasoning,
                  "thoughtsTokenCount": reasoning,
                  "totalTokenCount": told.get("in", 0) + cached + told.get("out", 0)}
        return {"usageMetadata": {k: v for k, v in counts.items() if v}}

    def part(self, step, model, parts, stop=None):
        candidate = {"index": 0}
        if parts:
            candidate["content"] = {"role": "model", "parts": parts}
        if stop:
            candidate["finishReason"] = self.STOPS[stop]
        return {"candidates": [candidate], "modelVersion": model, "responseId": "resp-fake",
                **self.usage(step)}

    def whole(self, step, model, text):
        parts = [{"text": "I think …", "thought": True}, {"text": text}] if text else []
        return self.part(step, model, parts, step.get("stop", "stop"))

    def events(self, step, model, text):
        yield None, self.part(step, model, [{"text": "I think …", "thought": True}])
        for piece in pieces(text):
            yield None, self.part(step, model, [{"text": piece}])
        yield None, self.part(step, model, [], step.get("stop", "stop"))

    def event(self, name, data):
        return name, json.dumps(data)

    def last(self):
        return None

    def error(self, status, kind, message, extra):
        return {"error": {"code": status, "message": message, "status": kind, "details": extra or []}}

    def error_event(self, kind, message, extra):
        return None, json.dumps(self.error(503, kind, message, extra))


class Count(Anthropic):
    """POST /v1/messages/count_tokens."""
    name = "count"

    def check(self, path, headers, body):
        need("max_tokens" not in body and "stream" not in body, 400, "invalid_request_error",
             "max_tokens: Extra inputs are not permitted")
        return super().check(path, headers, {**body, "max_tokens": 1})

    def whole(self, step, model, text):
        return {"input_tokens": step["usage"]["in"]}


ROUTES = [(re.compile(r"/v1/messages"), Anthropic()), (re.compile(r"/v1/messages/count_tokens"), Count()),
          (re.compile(r"(/[a-z0-9]+)*/chat/completions"), Chat()),
          (re.compile(r"/v1/responses"), Responses()),
          (re.compile(r"/(v1|v1beta)/models/.*"), Gemini())]


def pieces(text):
    """The answer in small pieces; a surrogate pair or a CRLF may be split anywhere in the bytes."""
    return [text[i:i + 7] for i in range(0, len(text), 7)]


# ---- the script ----
class Script:
    def __init__(self, value, folder):
        self.rules, self.folder = value["rules"], folder
        self.used = [0] * len(self.rules)

    def step(self, model, prompt):
        for i, rule in enumerate(self.rules):
            if rule.get("contains", "") in prompt and rule.get("model", model) == model:
                number = min(self.used[i], len(rule["steps"]) - 1)
                self.used[i] += 1
                return rule["steps"][number]
        raise Refusal(404, "not_found_error", "no rule of the script fits")

    def text(self, step):
        return (self.folder / step["file"]).read_text() if "file" in step else step.get("text", "")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script, key):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.key, self.log = script, key, []

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may go whenever it likes
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words):
        pass

    def do_GET(self):
        if self.path == "/_log":
            with LOCK:
                self.send_whole(200, json.dumps({"requests": self.server.log}).encode())
        else:
            self.send_whole(200 if self.path == "/health" else 404, b"{}")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self.path == "/_script":
            with LOCK:
                self.server.script = Script(json.loads(raw), self.server.script.folder)
                self.server.log = []
            self.send_whole(200, b"{}")
            return
        if self.path == "/_log":
            self.do_GET()
            return
        route = next((r for pattern, r in ROUTES if pattern.fullmatch(self.path.split("?")[0])), None)
        if route is None:
            self.send_whole(404, b"no such page", "text/plain")
            return
        try:
            self.serve(route, raw)
        except Refusal as refusal:
            body = route.error(refusal.status, refusal.kind, refusal.message, refusal.param)
            self.send_whole(refusal.status, json.dumps(body).encode())
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self, route, raw):
        need(not self.headers.get("expect"), 400, "invalid_request_error", "Expect is not welcome")
        need("key=" not in self.path, 400, "invalid_request_error", "a key in the URL")
        need(self.headers.get("content-type", "").startswith("application/json"), 400,
             "invalid_request_error", "Content-Type must be application/json")
        route.authenticate(self.headers, self.server.key)
        try:
            body = json.loads(raw.decode())
        except ValueError:
            raise Refusal(400, "invalid_request_error", "the body is no JSON") from None
        model, prompt, stream, schema = route.check(self.path, self.headers, body)
        with LOCK:
            step = self.server.script.step(model, prompt)
            self.server.log.append({"at": time.monotonic(), "route": route.name, "path": self.path,
                                    "model": model, "prompt": prompt, "body": body, "port": self.client_address[1],
                                    "version": self.headers.get("anthropic-version")})
        tells = getattr(route, "tells_usage", lambda _: True)(body)
        text = self.server.script.text(step)
        if schema is not None and not step.get("unbound"):
            text = fake_models.bound(text, schema)
        guess = {"in": len(prompt) // 4, "out": len(text) // 4}
        step = dict(step, text=text, usage=step.get("usage", guess) if tells else None)
        self.answer(route, step, model, step.get("stream", stream))

    def answer(self, route, step, model, stream):
        if "error" in step and not step.get("inside"):
            status, kind, message, extra = route.ERRORS[step["error"]]
            message = message.replace("%KEY%", self.server.key)
            self.send_whole(status, json.dumps(route.error(status, kind, message, extra)).encode(),
                            headers=step.get("headers"))
        elif "status" in step:
            body = step.get("body", "")
            text = isinstance(body, str)
            self.send_whole(step["status"], (body if text else json.dumps(body)).encode(),
                            "text/html" if text else "application/json", step.get("headers"))
        else:
            self.send_answer(route, step, step.get("model", model), stream)

    # ---- bytes ----
    def frame(self, step, name, data):
        end = "\r\n" if step.get("crlf") else "\n"
        lines = [f"event: {name}"] if name else []
        lines += [f"data: {data}"]
        ping = f": ping{end}{end}" if step.get("pings") else ""
        return ping + end.join(lines) + end + end

    def stream_bytes(self, route, step, model, text):
        out = []
        for name, data in route.events(step, model, text):
            if step.get("error") and len(out) > 1:
                break
            out.append(self.frame(step, *route.event(name, data)))
        if step.get("error"):
            status, kind, message, extra = route.ERRORS[step["error"]]
            out.append(self.frame(step, *route.error_event(kind, message, extra)))
        elif route.last():
            out.append(self.frame(step, None, route.last()))
        return "".join(out).encode()

    def send_answer(self, route, step, model, stream):
        """mode: plain | cut (close after `at` bytes) | reset | stall (send `at` bytes, then wait `ms`)
        | slow (wait `ms`, then answer) | gzip | garbage (not JSON) | empty | huge
        | leave (the whole answer as if the connection were kept, which then closes)."""
        text, mode = step["text"], step.get("mode", "plain")
        if stream:
            body, kind = self.stream_bytes(route, step, model, text), "text/event-stream; charset=utf-8"
        else:
            body = json.dumps(route.whole(step, model, text), ensure_ascii=False).encode()
            kind = "application/json"
        if mode == "garbage":
            body = body[:len(body) // 2]
        elif mode == "empty":
            body = b""
        elif mode == "huge":
            body = b'{"x": "' + b"y" * (64 << 20) + b'"}'
        if mode == "slow":
            time.sleep(step["ms"] / 1000)
        headers = dict(step.get("headers") or {})
        if mode == "gzip":
            body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
        self.send_head(200, kind, None if stream else len(body), headers)
        end = step.get("at", len(body)) if mode in ("cut", "reset", "stall") else len(body)
        self.send_pieces(body[:end], step.get("chunk", 0), stream, step.get("pause", 0))
        if mode == "stall":
            time.sleep(step["ms"] / 1000)
        if mode == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if mode in ("cut", "reset", "stall"):
            self.close_connection = True
            return
        if stream:
            self.wfile.write(b"0\r\n\r\n")
        if mode == "leave":
            self.close_connection = True

    def send_pieces(self, body, size, chunked, pause):
        size = size or max(len(body), 1)
        for i in range(0, len(body), size):
            piece = body[i:i + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            time.sleep(pause / 1000)

    def send_head(self, status, kind, length, headers=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("request-id", "req_fake")
        self.send_header("x-request-id", "req_fake")
        for name, values in (headers or {}).items():
            for value in values if isinstance(values, list) else [values]:
                self.send_header(name, str(value))
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def send_whole(self, status, body, kind="application/json", headers=None):
        self.send_head(status, kind, len(body), headers)
        self.wfile.write(body)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--script")
    parser.add_argument("--key", default="fake-key")
    parser.add_argument("--tls", nargs=2)
    options = parser.parse_args()
    value = {"rules": [{"steps": [{"text": "hello"}]}]}
    folder = pathlib.Path(".")
    if options.script:
        value = json.loads(pathlib.Path(options.script).read_text())
        folder = pathlib.Path(options.script).parent
    server = Server(Script(value, folder), options.key)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"PORT {server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
