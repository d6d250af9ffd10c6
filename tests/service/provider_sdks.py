# SPDX-License-Identifier: MIT
"""The official SDKs against fake_provider.py: what they can parse, the real servers may send.

Needs the packages anthropic, openai and google-genai (CE_SDK_PYTHON: an interpreter that has them).
"""
import os
import subprocess
import sys

try:
    import anthropic
    import openai
    from google import genai
    from google.genai import errors as genai_errors
except ImportError:
    python = os.environ.get("CE_SDK_PYTHON")
    if not python or os.environ.get("CE_SDK_INSIDE"):
        print("the packages anthropic, openai and google-genai are not installed")
        sys.exit(77)
    inside = dict(os.environ, CE_SDK_INSIDE="1")
    sys.exit(subprocess.run([python, "-B", *sys.argv], env=inside).returncode)

from ce import expect, main
from fake_server import Server

KEY = "sdk-key"
TEXT = "```cuda\n// ä€😀 \"x\" \\n\n```\r\ndone"
USAGE = {"in": 30, "out": 20, "cache_read": 10, "cache_write": 0, "reasoning": 5}


def steps(*list_):
    return {"rules": [{"steps": list(list_)}]}


def answer(**how):
    return steps({"text": TEXT, "usage": USAGE, **how})


def start(place, script):
    return Server(place, script, KEY)


def claude(server, **how):
    return anthropic.Anthropic(api_key=KEY, base_url=server.base, max_retries=how.pop("max_retries", 0), **how)


def gpt(server, **how):
    return openai.OpenAI(api_key=KEY, base_url=server.base + "/v1", max_retries=how.pop("max_retries", 0), **how)


KEPT = []  # a client closes its connections when it goes


def google(server, key=KEY):
    KEPT.append(genai.Client(api_key=key, http_options={"base_url": server.base}))
    return KEPT[-1]


QUESTION = [{"role": "user", "content": "hi"}]
CLAUDE = {"model": "claude-opus-5-5", "max_tokens": 1000, "messages": QUESTION}


def test_anthropic_reads_a_message(place):
    got = claude(start(place, answer())).messages.create(**CLAUDE)
    expect("".join(block.text for block in got.content if block.type == "text") == TEXT, got)
    expect(got.stop_reason == "end_turn" and got.usage.input_tokens == 30, got)
    expect(got.usage.cache_read_input_tokens == 10 and got.usage.output_tokens == 20, got)


def test_anthropic_reads_a_stream_in_any_slices(place):
    for chunk in (0, 1, 3, 50):
        with claude(start(place, answer(chunk=chunk))).messages.stream(**CLAUDE) as stream:
            got = stream.get_final_message()
        expect("".join(block.text for block in got.content if block.type == "text") == TEXT, got)
        expect(got.stop_reason == "end_turn" and got.usage.output_tokens == 20, got)


def test_anthropic_knows_the_stops_and_errors(place):
    for stop, word in (("length", "max_tokens"), ("refusal", "refusal")):
        expect(claude(start(place, answer(stop=stop))).messages.create(**CLAUDE).stop_reason == word)
    for error, kind in (("auth", anthropic.AuthenticationError), ("rate_limit", anthropic.RateLimitError),
                        ("request", anthropic.BadRequestError), ("server", anthropic.InternalServerError)):
        try:
            claude(start(place, steps({"error": error}))).messages.create(**CLAUDE)
            expect(False, error)
        except kind as failure:
            expect(failure.request_id == "req_fake" or failure.response.headers["request-id"] == "req_fake")
    retried = claude(start(place, steps({"error": "overloaded"}, {"text": "x"})), max_retries=1)
    expect(retried.messages.create(**CLAUDE).content[-1].text == "x")


def test_anthropic_meets_a_strict_server(place):
    server = start(place, answer())
    for wrong in ({"messages": [*QUESTION, {"role": "assistant", "content": "Sure,"}]},
                  {"messages": [{"role": "user", "content": ""}]}, {"extra_body": {"nonsense": 1}}):
        try:
            claude(server).messages.create(**{**CLAUDE, **wrong})
            expect(False, wrong)
        except anthropic.BadRequestError:
            pass
    try:
        anthropic.Anthropic(api_key="wrong", base_url=server.base, max_retries=0).messages.create(**CLAUDE)
        expect(False)
    except anthropic.AuthenticationError:
        pass


def test_openai_reads_chat_completions(place):
    got = gpt(start(place, answer())).chat.completions.create(model="gpt-4o", messages=QUESTION)
    expect(got.choices[0].message.content == TEXT and got.choices[0].finish_reason == "stop", got)
    expect(got.usage.prompt_tokens == 40 and got.usage.prompt_tokens_details.cached_tokens == 10, got)
    for chunk in (0, 1, 3, 50):
        stream = gpt(start(place, answer(chunk=chunk, crlf=chunk == 3))).chat.completions.create(
            model="gpt-4o", messages=QUESTION, stream=True, stream_options={"include_usage": True})
        pieces = list(stream)
        text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
        expect(text == TEXT and pieces[-1].usage.completion_tokens == 20, pieces)


def test_openai_reads_responses(place):
    got = gpt(start(place, answer())).responses.create(model="gpt-6.1-sol", input="hi")
    expect(got.output_text.endswith(TEXT) and got.status == "completed", got)
    expect(got.usage.input_tokens == 40 and got.usage.output_tokens_details.reasoning_tokens == 5, got)
    for chunk in (0, 1, 50):
        stream = gpt(start(place, answer(chunk=chunk))).responses.create(model="gpt-6.1-sol", input="hi",
                                                                        stream=True)
        events = list(stream)
        expect(events[-1].type == "response.completed", events)
        expect("".join(e.delta for e in events if e.type == "response.output_text.delta") == TEXT)
    cut = gpt(start(place, answer(stop="length"))).responses.create(model="gpt-6.1-sol", input="hi")
    expect(cut.status == "incomplete" and cut.incomplete_details.reason == "max_output_tokens", cut)


def test_openai_knows_the_errors(place):
    for error, kind in (("auth", openai.AuthenticationError), ("rate_limit", openai.RateLimitError),
                        ("quota", openai.RateLimitError), ("request", openai.BadRequestError),
                        ("server", openai.InternalServerError)):
        try:
            gpt(start(place, steps({"error": error}))).chat.completions.create(model="gpt-4o", messages=QUESTION)
            expect(False, error)
        except kind as failure:
            expect(failure.request_id == "req_fake")
    try:
        gpt(start(place, answer())).chat.completions.create(model="gpt-6.1-sol", messages=QUESTION, max_tokens=5)
        expect(False)
    except openai.BadRequestError as failure:
        expect(failure.code == "unsupported_parameter", failure)


def test_gemini_reads_whole_and_streamed(place):
    got = google(start(place, answer())).models.generate_content(model="gemini-4-neon", contents="hi")
    expect(got.text == TEXT and got.candidates[0].finish_reason.name == "STOP", got)
    expect(got.usage_metadata.prompt_token_count == 40 and got.usage_metadata.thoughts_token_count == 5, got)
    for chunk in (0, 1, 50):
        client = google(start(place, answer(chunk=chunk)))
        pieces = list(client.models.generate_content_stream(model="gemini-4-neon", contents="hi"))
        expect("".join(piece.text or "" for piece in pieces) == TEXT, pieces)
        expect(pieces[-1].candidates[0].finish_reason.name == "STOP")


def test_gemini_knows_the_errors(place):
    for error, code in (("auth", 400), ("rate_limit", 429), ("request", 400), ("overloaded", 503)):
        try:
            google(start(place, steps({"error": error}))).models.generate_content(model="gemini-4-neon",
                                                                                  contents="hi")
            expect(False, error)
        except genai_errors.APIError as failure:
            expect(failure.code == code, failure)


main(globals())
