# SPDX-License-Identifier: MIT
"""The official SDKs against fake_provider.py: what they can parse, the real servers may send.

scripts/deps puts the packages anthropic, openai and google-genai where CE_SDK_ROOT says (/opt/ce-sdks), for
/usr/bin/python3. With them in this interpreter nothing else is looked for.
"""
import os
import subprocess
import sys

ROOT = os.environ.get("CE_SDK_ROOT", "/opt/ce-sdks")
try:
    import anthropic
    import openai
    from google import genai
    from google.genai import errors as genai_errors
except ImportError as missing:
    if os.environ.get("CE_SDK_INSIDE") or not os.path.isdir(ROOT):
        print(f"the SDKs cannot be imported ({missing}): scripts/deps installs them")
        sys.exit(77)
    inside = dict(os.environ, CE_SDK_INSIDE="1", PYTHONPATH=ROOT)
    sys.exit(subprocess.run(["/usr/bin/python3", "-B", *sys.argv], env=inside).returncode)

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


def test_anthropic_counts_tokens(place):
    got = claude(start(place, answer())).messages.count_tokens(model=CLAUDE["model"], messages=QUESTION)
    expect(got.input_tokens == USAGE["in"], got)


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


SCHEMA = {"type": "object", "properties": {"plan": {"type": "string"}}, "required": ["plan"],
          "additionalProperties": False}


def refused(kind, ask, *words):
    try:
        ask()
        expect(False, "it was not refused", *words)
    except kind as failure:
        for word in words:
            expect(word in str(failure), word, failure)


# The SDK itself knows no temperature any more.
SAMPLED = {"extra_body": {"temperature": 0.5}, "extra_headers": {"anthropic-version": "2023-06-01"}}


def test_anthropic_meets_what_each_model_takes(place):
    server = start(place, answer())
    takes = ({"output_config": {"effort": "max"}}, {"model": "claude-opus-5", "thinking": {"type": "disabled"}},
             {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
             {"model": "claude-haiku-4-5", **SAMPLED})
    for good in takes:
        claude(server).messages.create(**{**CLAUDE, **good})
    refuses = (({"extra_body": {"temperature": 1.0}}, "temperature"), ({"thinking": {"type": "disabled"}}, "thinking"),
               ({"model": "claude-haiku-4-5", "output_config": {"effort": "low"}}, "effort"),
               ({"model": "claude-opus-4-7", **SAMPLED}, "deprecated"),
               ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}, "additional"))
    for wrong, word in refuses:
        refused(anthropic.BadRequestError, lambda wrong=wrong: claude(server).messages.create(**{**CLAUDE, **wrong}),
                word)


def test_openai_meets_what_each_model_takes(place):
    server = start(place, answer())
    form = {"name": "plan", "schema": SCHEMA, "strict": True}
    chat, responses = gpt(server).chat.completions, gpt(server).responses
    chat.create(model="gpt-4o", messages=QUESTION, temperature=0.5, top_p=0.9,
                response_format={"type": "json_schema", "json_schema": form})
    chat.create(model="gpt-6.1-terra", messages=QUESTION, reasoning_effort="none", temperature=0.5)
    responses.create(model="gpt-6.2-sol", input="hi", reasoning={"effort": "max"},
                     text={"format": {"type": "json_schema", **form}})
    loose = {"name": "plan", "strict": True, "schema": {**SCHEMA, "required": []}}
    bad = openai.BadRequestError
    refused(bad, lambda: chat.create(model="gpt-6.2-sol", messages=QUESTION, temperature=0.5), "temperature")
    refused(bad, lambda: chat.create(model="gpt-4o", messages=QUESTION, reasoning_effort="low"), "effort")
    refused(bad, lambda: chat.create(model="gpt-6.1-sol", messages=QUESTION, reasoning_effort="max"), "max")
    refused(bad, lambda: responses.create(model="gpt-6.2-sol", input="hi", reasoning={"effort": "none"}), "none")
    refused(bad, lambda: chat.create(model="gpt-4o", messages=QUESTION,
                                     response_format={"type": "json_schema", "json_schema": loose}), "required")


def test_a_schema_binds_the_answer(place):
    fenced = "So:\n```json\n{\"plan\": \"p\"}\n```\n"
    server = start(place, steps({"text": fenced}))
    form = {"type": "json_schema", "json_schema": {"name": "plan", "schema": SCHEMA, "strict": True}}
    got = gpt(server).chat.completions.create(model="gpt-4o", messages=QUESTION, response_format=form)
    expect(got.choices[0].message.content == '{"plan": "p"}', got)
    rules = {"response_mime_type": "application/json", "response_json_schema": SCHEMA, "temperature": 0.5,
             "thinking_config": {"thinking_level": "high"}}
    got = google(server).models.generate_content(model="gemini-4-neon", contents="hi", config=rules)
    expect(got.text == '{"plan": "p"}', got)
    wrong = {"thinking_config": {"thinking_budget": 100}}
    refused(genai_errors.APIError, lambda: google(server).models.generate_content(
        model="gemini-4-neon", contents="hi", config=wrong), "budget")


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
