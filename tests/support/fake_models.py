# SPDX-License-Identifier: MIT
"""What the models of the fake server take, as their vendors document it, and which JSON schemas are
accepted. Written from the vendors' rules, not from providers/ability.c: the two check each other.

Each function raises Unfit(message, code) for what the real server refuses.
"""
import json
import re

LEVELS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Unfit(Exception):
    def __init__(self, message, code="invalid_request_error"):
        super().__init__(message)
        self.code = code


def need(truth, message, code="invalid_request_error"):
    if not truth:
        raise Unfit(message, code)


def span(low, high):
    return LEVELS[LEVELS.index(low):LEVELS.index(high) + 1]


# ---- Anthropic ----
ALWAYS_THINKS = re.compile(r"claude-(fable-5|mythos-5|opus-5-5)")
BUDGETED = re.compile(r"claude-(opus|sonnet|haiku)-4-5")
SAMPLES = re.compile(r"claude-(opus-4-6|sonnet-4-6|opus-4-5|sonnet-4-5|haiku-4-5)")
OFF_SWITCH = {"claude-opus-5-5": None, "claude-opus-5": "disabled", "claude-sonnet-5-5": "between_tools",
              "claude-sonnet-5": "disabled"}


def anthropic_thinking(model, thinking, effort):
    if thinking is None:
        return
    need(isinstance(thinking, dict), "thinking: must be an object")
    kind = thinking.get("type")
    need(kind in ("adaptive", "enabled", "disabled", "between_tools"), "thinking.type: unknown")
    need(kind != "enabled" or BUDGETED.match(model), "thinking.type.enabled is not supported for this model")
    need(kind != "adaptive" or not BUDGETED.match(model), "adaptive thinking is not supported on this model")
    if kind in ("disabled", "between_tools"):
        need(not ALWAYS_THINKS.match(model), "thinking cannot be disabled for this model")
        wanted = next((off for name, off in OFF_SWITCH.items() if model.startswith(name)), "disabled")
        need(kind == wanted, f"thinking.type: {kind} is not supported for this model")
        need(effort not in ("xhigh", "max"), "thinking cannot be disabled at this effort")


def anthropic(model, version, body):
    output = body.get("output_config", {})
    need(isinstance(output, dict) and set(output) <= {"effort", "format"}, "output_config: Extra inputs are not permitted")
    effort = output.get("effort")
    need(effort is None or effort in span("low", "max"), "output_config.effort: Input should be 'low' … 'max'")
    need(effort is None or not BUDGETED.match(model), "This model does not support the effort parameter.")
    for field in ("temperature", "top_p"):
        value = body.get(field)
        if value is not None:
            need(version == "2023-06-01", f"{field}: Extra inputs are not permitted")
            need(SAMPLES.match(model), f"{field} is deprecated for this model.")
            need(0 <= value <= 1, f"{field}: Input should be less than or equal to 1")
    anthropic_thinking(model, body.get("thinking"), effort)
    if "format" in output:
        need(output["format"].get("type") == "json_schema", "output_config.format.type: unknown")
        schema(output["format"].get("schema"), every_required=False)
        return output["format"]["schema"]
    return None


# ---- OpenAI ----
OPENAI_EFFORT = [(r"gpt-6\.2|gpt-6\.1-sol|gpt-6-astra", span("low", "max")),
                 (r"gpt-6|gpt-5\.6", ["none", *span("low", "max")]), (r"gpt-5\.5-pro", span("medium", "xhigh")),
                 (r"gpt-5\.5", ["none", *span("low", "xhigh")]), (r"gpt-5", span("minimal", "high")),
                 (r"o\d", span("low", "high"))]


def openai(model, effort, sampled, chat, described):
    """`described` is the json_schema object of either API, or None."""
    levels = next((levels for pattern, levels in OPENAI_EFFORT if re.match(pattern, model)), None)
    if levels and chat and re.match(r"gpt-6\.(1-sol|2)", model):
        levels = span("low", "xhigh")
    if effort is not None:
        need(levels, "Unsupported parameter: 'reasoning.effort' is not supported with this model.", "unsupported_parameter")
        need(effort in levels, f"Unsupported value: '{effort}' is not supported with this model.", "unsupported_value")
    if sampled:
        need(levels is None or (effort == "none" and "none" in levels),
             "Unsupported parameter: 'temperature' is not supported with this model.", "unsupported_parameter")
    if described is None:
        return None
    need(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(described.get("name"))), "Invalid 'name' of the schema")
    schema(described.get("schema"), every_required=described.get("strict", False))
    return described["schema"]


# ---- Gemini ----
def camel(rules):
    """The JSON of a protocol buffer may name its fields either way; Google's SDK mixes the two."""
    return {re.sub("_([a-z])", lambda match: match[1].upper(), key): value for key, value in rules.items()}


def gemini(model, rules):
    newest = model.startswith("gemini-4")
    rules = camel(rules)
    thinking = camel(rules.get("thinkingConfig", {}))
    need(set(thinking) <= {"thinkingLevel", "thinkingBudget", "includeThoughts"}, "Unknown name in thinkingConfig")
    level = thinking.get("thinkingLevel")
    levels = ["LOW", "MEDIUM", "HIGH", "XHIGH"] if newest else ["MINIMAL", "LOW", "MEDIUM", "HIGH"]
    need(level is None or level in levels, f"thinking level {level} is not supported by this model")
    need(level is None or not model.startswith("gemini-2"), "thinking level is not supported by this model")
    need("thinkingBudget" not in thinking or not newest, "thinking budget is not supported by this model")
    for field, most in (("temperature", 2), ("topP", 1)):
        need(0 <= rules.get(field, 0) <= most, f"{field} is out of range")
    if "responseJsonSchema" in rules:
        need(rules.get("responseMimeType") == "application/json", "a response schema needs responseMimeType")
        schema(rules["responseJsonSchema"], every_required=False)
        return rules["responseJsonSchema"]
    return None


# ---- schemas ----
KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}


def schema(node, every_required, where="schema"):
    """The common part of what the three vendors accept; recursion, sizes and ranges are no part of it."""
    need(isinstance(node, dict), f"{where}: must be an object", "invalid_json_schema")
    need(set(node) <= KEYWORDS, f"{where}: {sorted(set(node) - KEYWORDS)} is not supported", "invalid_json_schema")
    need("type" in node or "anyOf" in node, f"{where}: 'type' is missing", "invalid_json_schema")
    if node.get("type") == "object":
        members = node.get("properties", {})
        need(node.get("additionalProperties") is False, f"{where}: 'additionalProperties' must be false",
             "invalid_json_schema")
        need(not every_required or set(node.get("required", [])) == set(members),
             f"{where}: 'required' must name every property", "invalid_json_schema")
        for name, member in members.items():
            schema(member, every_required, f"{where}.{name}")
    if node.get("type") == "array":
        schema(node.get("items"), every_required, f"{where}.items")
    for choice in node.get("anyOf", []):
        schema(choice, every_required, f"{where}.anyOf")


def fits(value, node):
    """Whether a value is of a schema that `schema` accepts."""
    if "anyOf" in node:
        return any(fits(value, choice) for choice in node["anyOf"])
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    if not isinstance(value, kinds[node["type"]]) or ("enum" in node and value not in node["enum"]):
        return False
    if node["type"] == "object":
        return (set(node.get("required", [])) <= set(value) <= set(node["properties"])
                and all(fits(member, node["properties"][name]) for name, member in value.items()))
    return node["type"] != "array" or all(fits(item, node["items"]) for item in value)


FENCE = re.compile(r"```(\w+)\n(.*?)\n```", re.DOTALL)


def bound(text, node):
    """A script's fenced answer as a model bound to a schema gives it: the blocks become the object's members.
    What has no blocks is left as it is."""
    blocks = dict(FENCE.findall(text))
    try:
        plan = json.loads(blocks["json"])
        value = {"source": blocks["cuda"] + "\n", "plan": plan} if "source" in node["properties"] else plan
    except (KeyError, ValueError):
        return text
    filled = fill(value, node)
    return json.dumps(filled) if fits(filled, node) else text


def fill(value, node):
    """Members that a schema wants and a hand-written answer leaves out, as a model would write them."""
    if "anyOf" in node:
        return next((filled for filled in (fill(value, choice) for choice in node["anyOf"])
                     if any(fits(filled, choice) for choice in node["anyOf"])), value)
    if node["type"] == "string" and isinstance(value, (int, float)) and "enum" not in node:
        return str(value)
    if node["type"] == "array" and isinstance(value, list):
        return [fill(item, node["items"]) for item in value]
    if node["type"] != "object" or not isinstance(value, dict):
        return value
    empty = {"array": [], "string": "0"}
    return {**{name: member.get("enum", [empty.get(member.get("type"), "0")])[0]
               for name, member in node["properties"].items() if name in node["required"]},
            **{name: fill(member, node["properties"][name]) if name in node["properties"] else member
               for name, member in value.items()}}
