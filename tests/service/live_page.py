# SPDX-License-Identifier: MIT
"""The live page in a real browser: a run seen to progress, a server that comes back, hostile text, looks."""
import os
import signal

import ce
from ce import expect
from live import free_port, wait_for_page
from webdriver import Browser, difference, thumbnail

LOOKS = ce.SRC / "tests/data/live"
HOSTILE = ("I cannot do this. <script>window.owned = 1</script><img src=x onerror='window.owned = 2'>"
           "\u001b[31mred\u001b[0m \u202eright to left\u202c </pre></details><h1>big</h1> "
           + "A" * 1000000 + "\nlast line")


def start(place, port, rules, *more, slots=2):
    place.mock(rules)  # named without its folder, which has another name each time
    child = place.start("eval", "--suite", "internal", "--model-id", "mock:mock.json", "--slots", slots, "--http",
                        port, *more)
    wait_for_page(place, port)
    return child


def wait_text(place, page, css, word):
    return place.wait(f"{word!r} in {css}", lambda: word in (page.text(css) or ""))


def clean(page):
    complaints = page.complaints()
    expect(not complaints, *complaints)


def test_a_run_is_seen_to_progress_and_to_come_back(place):
    port = free_port()
    rules = [{"text": "I cannot do this.", "latency_ms": 300}]
    child = start(place, port, rules, "--limit", 10, slots=1)
    with Browser() as page:
        page.open(f"http://127.0.0.1:{port}/")
        wait_text(place, page, "#link", "live")
        first = place.wait("a task done", lambda: page.script("return document.querySelector('#bar').value") or None)
        place.wait("progress", lambda: page.script("return document.querySelector('#bar').value") > first)
        clean(page)
        child.kill()
        child.wait()
        place.children.remove(child)
        wait_text(place, page, "#link", "reconnecting")
        page.complaints()  # the browser says that the server is gone, and it is
        again = place.start("eval", "--resume", "latest", "--http", port, out=False)
        wait_text(place, page, "#link", "live")
        place.wait("everything in the grid", lambda: page.script(
            "return document.querySelectorAll('#grid button.cell[data-tone=bad]').length") >= 9)
        again.wait(ce.PATIENCE)


def test_hostile_text_is_shown_and_does_nothing(place):
    port = free_port()
    rules = [{"problem": "vector_add_fp32", "text": HOSTILE}, {"text": "no", "latency_ms": 60000}]
    child = start(place, port, rules, "--limit", 2)
    place.wait("the first task", lambda: place.count("task", "kind = 'synthesize' AND state = 'done'") == 1)
    with Browser(390, 900) as page:
        page.open(f"http://127.0.0.1:{port}/")
        place.wait("the square", lambda: page.script("return document.querySelectorAll('#grid button.cell[data-tone=bad]').length"))
        page.click("#grid button.cell[data-tone=bad]")
        wait_text(place, page, "#drawer-body", "Model calls")
        page.script("for (const d of document.querySelectorAll('#drawer details')) d.open = true")
        place.wait("the texts", lambda: "window.owned = 1" in page.script("return document.querySelector('#drawer-body').textContent"))
        expect(page.script("return window.owned") is None, "a script of the model ran")
        expect(page.script("return document.querySelectorAll('#drawer img, #drawer h1, #drawer script').length") == 0,
               "markup of the model became markup")
        expect(page.overflow() <= 0, f"the page is {page.overflow()} px too wide")
        page.click("#close")
        focus = page.script("return document.activeElement.className")
        expect(focus == "cell", f"the focus is on {focus!r}, not where it was")
        clean(page)
    child.send_signal(signal.SIGINT)
    child.wait(ce.PATIENCE)


def settle(page):
    """What differs from run to run is hidden: ids, dates, durations."""
    page.script("""
      const style = new CSSStyleSheet();
      style.replaceSync('#facts, #numbers, #runs, #flying { display: none }');
      document.adoptedStyleSheets = [style];""")


def test_it_looks_as_it_should(place):
    port = free_port()
    rules = [{"problem": "silu_fp16", "gold": True}, {"problem": "vector_add_fp32", "gold": True},
             {"problem": "add_relu_fp32", "text": "I cannot do this."}, {"text": "no", "latency_ms": 60000}]
    child = start(place, port, rules, "--limit", 6)
    place.wait("three tasks", lambda: place.count("task", "kind = 'synthesize' AND state = 'done'") == 3)
    update, worst = os.environ.get("CE_UPDATE_GOLDEN"), []
    with Browser() as page:
        page.open(f"http://127.0.0.1:{port}/")
        place.wait("the grid", lambda: page.script("return document.querySelectorAll('#grid button.cell[data-tone=run]').length") == 2)
        place.wait("the board", lambda: (page.text("#board tbody td") or "").startswith("2 /"))
        for scheme in ("light", "dark"):
            page.scheme(scheme)
            for width, height in ((390, 1500), (1440, 1000)):
                page.size(width, height)
                expect(page.overflow() <= 0, f"at {width} px the page is {page.overflow()} px too wide")
                expect(not page.poor_contrast(), scheme, *page.poor_contrast())
                expect(not page.unnamed(), *page.unnamed())
                settle(page)
                name = f"{scheme}-{width}"
                picture = page.screenshot()
                if update:
                    LOOKS.mkdir(exist_ok=True)
                    (LOOKS / f"{name}.png").write_bytes(picture)
                    continue
                away = difference(thumbnail(picture), thumbnail((LOOKS / f"{name}.png").read_bytes()))
                worst.append((away, name))
        clean(page)
    child.send_signal(signal.SIGINT)
    child.wait(ce.PATIENCE)
    expect(update or max(worst)[0] < 0.03, "another look than tests/data/live (CE_UPDATE_GOLDEN=1 writes anew):", worst)


if __name__ == "__main__":
    ce.main(globals())
