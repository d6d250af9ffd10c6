# SPDX-License-Identifier: MIT
"""ce-coord export --site, opened in a headless Chromium by WebDriver: what a reader sees, narrow and wide, light
and dark; what models wrote does nothing. Skipped where chromedriver is not installed."""
import atexit
import html.parser
import json
import shutil
import time

from ce import SHIPPED, Place, Skip, exits, expect, main
from webdriver import Browser

PROBLEMS = SHIPPED[:4]
HOSTILE = ("<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
           "\x1b[31mred\x1b[0m \u202egnp.exe </pre></textarea><a href=\"javascript:alert(1)\">x</a>")
BROKEN = ("```cuda\n// " + HOSTILE + "\n#error not yet\n```\n```json\n"
          '{"kernels":[{"entry":"k","grid":["1"],"block":[32],"shared":"0","args":[]}]}\n```\n')


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.tags = [], set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            if name == "id":
                expect(value not in self.ids, f"two elements have the id {value}")
                self.ids.add(value)
            if name in ("href", "src"):
                self.links.append(value)


MADE = {}  # one site for all tests: to make it takes most of the time


def made():
    if not MADE:
        MADE["place"] = Place()
        atexit.register(MADE["place"].close)
        MADE["site"] = make(MADE["place"])
    return MADE["site"]


def make(place):
    """A real run, with a model that writes what it should not."""
    model = place.mock([{"problem": PROBLEMS[1], "text": BROKEN},
                        {"problem": PROBLEMS[2], "text": HOSTILE + "x" * 1000000},
                        {"gold": True, "tokens_in": 100, "tokens_out": 10, "cost_usd": 0.01}])
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--model-id", model, "--only",
                    ",".join(PROBLEMS), timeout=300), 0)
    site = place.dir / "site"
    exits(place.run("export", "latest", "--site", site, timeout=300), 0)
    return site


def pages_of(site):
    return sorted(site.glob("*.html")) + sorted(site.glob("[pt]/*.html"))


def test_links_resolve_and_markup_is_ours(place):
    site = made()
    parsed = {page: Links(page.read_text()) for page in pages_of(site)}
    expect(len(parsed) == 2 + 4 + 8, sorted(parsed))
    for page, found in parsed.items():
        expect(not found.tags & {"script", "iframe", "object", "form", "textarea"}, page, found.tags)
        for link in found.links:
            expect(not link.startswith(("http:", "https:", "//", "javascript:", "data:")), page, link)
            path, _, fragment = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            expect(target.exists(), f"{page.name} points to {link}")
            expect(not fragment or fragment in parsed[target].ids, f"{page.name}: nothing has the id {fragment}")


def test_a_compile_error_points_at_its_line(place):
    page = next(page for page in pages_of(made()) if "catastrophic error" in page.read_text())
    expect('<a href="#a1L2">kernel.cu(2)</a>' in page.read_text())
    expect('<span id="a1L2">#error not yet</span>' in page.read_text())


def look(browser, page, width, scheme):
    browser.size(width, 844)
    browser.scheme(scheme)
    browser.open(page.as_uri())


def test_a_browser_shows_it(place):
    with Browser() as browser:
        for page in pages_of(made()):
            for width, scheme in ((390, "light"), (1440, "dark")):
                look(browser, page, width, scheme)
                expect(browser.overflow() <= 0, f"{page.name} is wider than a screen of {width} px")
                expect("pwned" not in browser.script("return document.title"), page)
                expect(browser.script("return document.scripts.length") == 0, page)
                expect(browser.script("return [...document.images].every(i => i.closest('figure'))"), page)
                expect(browser.poor_contrast() == [], page, scheme, browser.poor_contrast())
                expect(browser.unnamed() == [], page, browser.unnamed())
            expect(browser.script("return [...document.querySelectorAll('pre,.scroll')].every(e => e.tabIndex == 0)"),
                   page, "what scrolls is reached by keyboard")
        expect(browser.complaints() == [], browser.complaints())


def test_a_line_is_reached_by_a_link(place):
    page = next(page for page in pages_of(made()) if "catastrophic error" in page.read_text())
    with Browser() as browser:
        look(browser, page, 390, "light")
        browser.click('a[href="#a1L2"]')
        expect(browser.script("return document.querySelector(':target').textContent") == "#error not yet")


def test_pictures_are_there(place):
    if shutil.which("gnuplot") is None:
        raise Skip("gnuplot is not installed")
    with Browser() as browser:
        look(browser, made() / "run.html", 390, "light")
        broken = ("return [...document.images].filter(i => { i.loading = 'eager'; "
                  "return !i.complete || !i.naturalWidth }).length")
        until = time.monotonic() + 60
        while browser.script(broken) and time.monotonic() < until:
            time.sleep(0.2)
        expect(browser.script(broken) == 0, "pictures that are not drawn")
        expect(browser.script("return [...document.images].every(i => i.alt.length > 20)"), "pictures without words")
        expect(browser.script("return document.images.length") == 8)


def test_a_pack_and_its_run_give_the_same_site(place):
    site = made()
    pack, again = place.dir / "pack", place.dir / "again"
    exits(MADE["place"].run("evidence", "pack", "latest", "--out", pack, timeout=300), 0)
    done = place.run("export", pack, "--site", again, db=False, timeout=300)
    exits(done, 0)
    names = sorted(str(f.relative_to(site)) for f in site.rglob("*") if f.is_file())
    expect(names == sorted(str(f.relative_to(again)) for f in again.rglob("*") if f.is_file()), names)
    for name in names:
        expect((site / name).read_bytes() == (again / name).read_bytes(), name)


def test_a_planted_key_is_in_no_file(place):
    key = "sk-ant-api03-PLANTED0123456789abcdefghij"
    model = place.mock([{"text": f"my key is {key}"}])
    exits(place.run("eval", "--suite", "internal", "--model-id", model, "--only", PROBLEMS[0]), 0)
    exits(place.run("export", "latest", "--site", "s", "--jsonl", "j", "--csv", "c", "--badge", "badge.json"), 0)
    task = place.rows("SELECT id FROM task WHERE kind = 'synthesize'")[0][0]
    exits(place.run("export", task, "--out", "t"), 0)
    files = [f for folder in "sjct" for f in (place.dir / folder).rglob("*") if f.is_file()]
    expect(len(files) > 40, files)
    for file in files:
        expect(key.encode() not in file.read_bytes(), f"the key is in {file}")
    expect("withheld: it may hold a key" in "".join(f.read_text() for f in (place.dir / "t").iterdir()))


def test_what_to_write_must_be_said(place):
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", PROBLEMS[0]), 0)
    for words in ((), ("--out", "a", "--jsonl", "b")):
        exits(place.run("export", "latest", *words), 2)
    exits(place.run("export", "no-such-run", "--jsonl", "b"), 2)
    badge = place.dir / "badge.json"
    exits(place.run("export", "latest", "--badge", badge), 0)
    said = json.loads(badge.read_text())
    expect(said["schemaVersion"] == 1 and said["color"] == "lightgrey" and "not ranked" in said["message"], said)


main(globals())
