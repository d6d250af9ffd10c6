# SPDX-License-Identifier: MIT
"""A real headless Chromium, driven through chromedriver by the W3C WebDriver protocol."""
import base64
import http.client
import json
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

import ce

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window. Use as a context; a place without Chromium skips the test."""

    def __init__(self, width=1440, height=1200):
        if not shutil.which("chromedriver"):
            raise ce.Skip("chromium-driver is not installed")
        self.profile = tempfile.mkdtemp(prefix="ce-browser-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = int(found[1])
                break
        ce.expect(port, "chromedriver did not start")
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--force-device-scale-factor=1", "--hide-scrollbars", f"--user-data-dir={self.profile}",
                     f"--window-size={width},{height}", "--lang=en"]
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base = "/session/" + answer["sessionId"]
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", self.base)
        finally:
            self.driver.kill()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        self.link.request(method, path, text, {"Content-Type": "application/json"})
        value = json.loads(self.link.getresponse().read())["value"]
        ce.expect(not (isinstance(value, dict) and "error" in value), f"{method} {path}: {value}")
        return value

    # ---- what a person does ----
    def open(self, url):
        self.call("POST", self.base + "/url", {"url": url})

    def script(self, text, *arguments):
        """Runs the body of a function and gives what it returns."""
        return self.call("POST", self.base + "/execute/sync", {"script": text, "args": list(arguments)})

    def click(self, css):
        found = self.call("POST", self.base + "/element", {"using": "css selector", "value": css})
        self.call("POST", f"{self.base}/element/{found[ELEMENT]}/click", {})

    def text(self, css):
        return self.script("const e = document.querySelector(arguments[0]); return e ? e.innerText : null", css)

    def keys(self, css, text):
        found = self.call("POST", self.base + "/element", {"using": "css selector", "value": css})
        self.call("POST", f"{self.base}/element/{found[ELEMENT]}/value", {"text": text})

    def command(self, name, **parameters):
        return self.call("POST", self.base + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=False)

    def scheme(self, name):
        """light or dark"""
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    # ---- what a test asks ----
    def complaints(self):
        """Console errors since the last time."""
        log = self.call("POST", self.base + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def overflow(self):
        """Pixels by which the page is wider than the window."""
        return self.script("return document.scrollingElement.scrollWidth - window.innerWidth")

    def screenshot(self):
        return base64.b64decode(self.call("GET", self.base + "/screenshot"))

    def poor_contrast(self, least=4.5):
        """Texts whose colour is too near to what is behind them (WCAG 2.1, 1.4.3)."""
        return self.script(CONTRAST, least)

    def unnamed(self):
        """Controls, images and tables that a screen reader could not name."""
        return self.script(NAMES)


CONTRAST = """
const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return {r: m[0], g: m[1], b: m[2], a: m[3] ?? 1}; };
const over = (t, u) => ({r: t.r * t.a + u.r * (1 - t.a), g: t.g * t.a + u.g * (1 - t.a), b: t.b * t.a + u.b * (1 - t.a), a: 1});
const light = (c) => { const f = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  return .2126 * f(c.r) + .7152 * f(c.g) + .0722 * f(c.b); };
const behind = (e) => { let stack = []; for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
  if (c.a) stack.push(c); if (c.a === 1) break; }
  return stack.reverse().reduce((under, c) => over(c, under), {r: 255, g: 255, b: 255, a: 1}); };
const poor = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n; (n = walk.nextNode());) {
  const e = n.parentElement;
  if (!n.textContent.trim() || ['NOSCRIPT', 'SCRIPT', 'STYLE'].includes(e.tagName) || !e.getClientRects().length) continue;
  const back = behind(e), a = light(over(parse(getComputedStyle(e).color), back)), b = light(back);
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < arguments[0]) poor.push(e.tagName + ' ' + n.textContent.trim().slice(0, 40) + ' ' + ratio.toFixed(2));
}
return poor;
"""

NAMES = """
const bad = [];
for (const e of document.querySelectorAll('button, a[href], summary, input, select'))
  if (!(e.getAttribute('aria-label') || e.textContent || e.title || '').trim() && e.getClientRects().length) bad.push(e.outerHTML.slice(0, 80));
for (const e of document.querySelectorAll('img:not([alt]), table:not(:has(caption)), [role=img]:not([aria-label])')) bad.push(e.outerHTML.slice(0, 80));
for (const e of document.querySelectorAll('th:not([scope])')) bad.push(e.outerHTML.slice(0, 80));
return bad;
"""


# ---- pictures ----
def pixels(png):
    """Width, height and rows of grey values of an 8-bit RGB or RGBA picture."""
    ce.expect(png[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    at, data, width, height, channels = 8, b"", 0, 0, 0
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            ce.expect(depth == 8 and colour in (2, 6) and body[12] == 0, "another kind of PNG")
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += body
        at += size + 12
    raw, stride, before, rows = zlib.decompress(data), width * channels, bytes(width * channels), []
    for y in range(height):
        start = y * (stride + 1)
        before = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + stride]), before, channels)
        rows.append([(before[i] + before[i + 1] + before[i + 2]) / 3 for i in range(0, stride, channels)])
    return width, height, rows


def unfilter(kind, line, before, step):
    if kind == 2:
        return bytes((a + b) & 255 for a, b in zip(line, before))
    for i in range(len(line) if kind else 0):
        left = line[i - step] if i >= step else 0
        up, corner = before[i], before[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            p = left + up - corner
            nearest = min((abs(p - left), 0), (abs(p - up), 1), (abs(p - corner), 2))[1]
            guess = (left, up, corner)[nearest]
        line[i] = (line[i] + guess) & 255
    return bytes(line)


def thumbnail(png, step=8):
    """Means of squares, so that a hair's breadth of another font does not count."""
    width, height, rows = pixels(png)
    return [[sum(sum(rows[y + j][x:x + step]) for j in range(step)) / (step * step)
             for x in range(0, width - width % step, step)] for y in range(0, height - height % step, step)]


def difference(a, b):
    """The share of squares that differ by more than a tenth of the range."""
    if len(a) != len(b) or len(a[0]) != len(b[0]):
        return 1.0
    pairs = [(x, y) for p, q in zip(a, b) for x, y in zip(p, q)]
    return sum(abs(x - y) > 25 for x, y in pairs) / len(pairs)
