# SPDX-License-Identifier: MIT
"""The board as a page in a real browser: a phone and a desk, light and dark; nothing is fetched, nothing overflows."""
from ce import exits, expect, main
from webdriver import Browser


def test_the_page_of_a_board(place):
    bad = place.mock([{"text": "<script>document.title = 'taken'</script>"}], "bad.json")
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--model-id", bad, "--only",
                    "vector_add_fp32,silu_fp16"), 0)
    page = place.dir / "board.html"
    exits(place.run("leaderboard", "latest", "--out", page), 0)
    expect((place.out / "leaderboard.html").exists(), "a run's folder has the page")
    with Browser() as browser:
        for width in (390, 1440):
            for scheme in ("light", "dark"):
                browser.size(width, 900)
                browser.scheme(scheme)
                browser.open(page.as_uri())
                expect(browser.text("h1").startswith("Leaderboard: internal"), browser.text("h1"))
                expect(browser.script("return document.title") != "taken", "a model's text became a script")
                expect(browser.overflow() <= 0, width, browser.overflow())
                expect(not browser.poor_contrast(), scheme, browser.poor_contrast())
                expect(not browser.unnamed(), browser.unnamed())
                expect(browser.script("return performance.getEntriesByType('resource').length") == 0)
        expect("never ranked" in browser.text("main") or "Not ranked" in browser.text("main"), browser.text("main"))
        expect(not browser.complaints(), browser.complaints())


main(globals())
