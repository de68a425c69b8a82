"""The page in a real Chromium: typing, uploading, recording, playing, errors, a phone's width, keyboard, axe-core.

make test-page        # Debian packages chromium and chromium-driver; axe-core comes from npm
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from service import listening, spoken

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(
        not shutil.which("chromedriver"), reason="needs Chromium: apt-get install chromium chromium-driver"
    ),
]
SHOTS = Path(os.environ.get("SOTTOVOCE_SHOTS", "out/page"))


@pytest.fixture(scope="module")
def url():
    with listening("detect=default", "audio.transcribe=moonshine", text_only=False) as address:
        yield address


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sounds")
    samples, rate_hz = soundfile.read(io.BytesIO(spoken()[0]))
    soundfile.write(folder / "said.wav", np.concatenate([np.zeros(rate_hz // 2), samples, np.zeros(rate_hz)]), rate_hz)
    soundfile.write(folder / "long.flac", np.random.default_rng(0).normal(0, 0.1, 8000 * 121), 8000)
    (folder / "none.wav").write_bytes(b"not a sound")
    return folder


@pytest.fixture(scope="module")
def browser(sounds):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={sounds / 'said.wav'}%noloop",
        "--autoplay-policy=no-user-gesture-required",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


class Page:
    def __init__(self, driver, url, width=1280):
        self.driver = driver
        driver.set_window_size(width, 1000)
        if width < 500:  # a window has a least width; a phone has not
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 800, "deviceScaleFactor": 2, "mobile": True},
            )
        else:
            driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.get(url)

    def __getitem__(self, name):
        return self.driver.find_element("id", name)

    def until(self, holds, seconds=60):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds).until(lambda _: holds())

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        height = self.driver.execute_script("return document.documentElement.scrollHeight")
        width = self.driver.execute_script("return window.innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 4000), "scale": 1}
        got = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (SHOTS / f"{name}.png").write_bytes(base64.b64decode(got["data"]))

    def type(self, name, text):
        self[name].clear()
        self[name].send_keys(text)

    def anonymise(self, file, text):
        self["tab-speech"].click()
        self["file"].send_keys(str(file))
        self.type("transcript", text)
        self["anonymise"].click()

    def wide(self):
        return self.driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")


@pytest.fixture
def page(browser, url):
    return Page(browser, url)


def test_typing_shows_entities_and_every_strategy(page):
    page.until(lambda: len(page.driver.find_elements("css selector", "#strategies article")) == 6)
    page.shot("page")
    page.type("text", "please call Martin Okafor in Berlin")
    page.until(lambda: "PER" in page["found"].text and "LOC" in page["found"].text)
    page.until(lambda: len(page.driver.find_elements("css selector", "#strategies article")) == 6)
    assert "[PER]" in page["strategies"].text and "Okafor" not in page["strategies"].text
    assert page["text-open"].text.startswith("Not protected: ")
    page.driver.execute_script("p.value = 0.5; p.dispatchEvent(new Event('input'))")
    page.until(lambda: "∞" in page["strategies"].text)
    page.shot("text")
    assert [row for row in page.driver.get_log("browser") if row["level"] == "SEVERE"] == []


def test_a_text_is_read_in_its_language_or_in_the_one_that_is_chosen(page):
    page.type("text", "schick eine nachricht an Thomas Müller in Hamburg am freitag")
    page.until(lambda: page["read-as"].text == "Read as German.")
    page.until(lambda: "Müller" not in page["strategies"].text and "Refused (language)" in page["strategies"].text)
    assert page["text-error"].is_displayed() is False, "one strategy that knows English only stops no other"
    page.shot("german")
    page.until(lambda: len(page.driver.find_elements("css selector", "#language option")) == 10)
    page.driver.execute_script("language.value = 'nl'; language.dispatchEvent(new Event('input'))")
    page.until(lambda: page["read-as"].text == "Read as Dutch.")
    page.shot("dutch")


def test_uploaded_speech_is_shown_before_and_after_and_plays(page, sounds):
    page.anonymise(sounds / "said.wav", spoken()[1]["text"])
    page.until(lambda: page["speech-result"].is_displayed())
    page.until(lambda: len(page.driver.find_elements("css selector", "#words .gone")) == 2)
    assert "okafor" not in page["words"].text
    ends = page.driver.execute_async_script(
        "const done = arguments[0], a = document.getElementById('play-after');"
        "a.addEventListener('timeupdate', () => a.currentTime > 0.2 && done(a.duration)); a.play();"
    )
    assert ends > 0.5
    drawn = (
        "const c = document.getElementById(arguments[0]);"
        "return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    assert all(page.driver.execute_script(drawn, name) > 20 for name in ("before", "after"))
    assert page.driver.find_elements("css selector", "#slices audio")
    page.shot("speech")


def test_recorded_speech_is_written_down_and_anonymised(page):
    page["tab-speech"].click()
    page["record"].click()
    page.until(lambda: page["recorded"].text.startswith("Recording"))
    time.sleep(3.5)  # the fake microphone says the sentence once
    page["record"].click()
    page.until(lambda: page["recorded"].text.startswith("Recorded"))
    page["anonymise"].click()
    page.until(lambda: page["speech-result"].is_displayed() or page["speech-error"].is_displayed())
    assert page["speech-result"].is_displayed(), page["speech-error"].text
    assert page["transcript"].get_attribute("value").strip()


@pytest.mark.parametrize("file, told", [("none.wav", "audio unreadable"), ("long.flac", "at most 120 s")])
def test_what_cannot_be_used_is_said_in_words(page, sounds, file, told):
    page.anonymise(sounds / file, "hello")
    page.until(lambda: told in page["speech-error"].text)


def test_another_language_is_said_not_to_fit(page, sounds):
    page.anonymise(sounds / "said.wav", "guten tag ich heisse martin und wohne seit vielen jahren in der grossen stadt")
    page.until(lambda: page["speech-error"].text.startswith("Refused"))


def test_budgets_and_their_curves(page):
    page["tab-budget"].click()
    page.until(lambda: len(page.driver.find_elements("css selector", "svg.curve path")) == 2)
    assert "ε = " in page["rr-figure"].text and "ε = " in page["edp-figure"].text
    page.shot("budget")


def test_a_run_is_opened_here_and_every_file_compared(page, tmp_path):
    run = tmp_path / "run-1"
    run.mkdir()
    (run / "report.html").write_text("<h1>Report</h1>")
    entry = {"stage": "replace", "mechanism": "full", "says": "x", "not_protected": ["y"], "sound": {"unit": 2.5}}
    (run / "ledger.json").write_text(json.dumps({"mechanisms": [entry]}))
    files = {
        name: {"sha256": hashlib.sha256((run / name).read_bytes()).hexdigest()}
        for name in ("report.html", "ledger.json")
    }
    (run / "_COMMITTED.json").write_text(json.dumps({"files": files}))
    page["tab-run"].click()
    page["folder"].send_keys(str(run))
    page.until(lambda: "All 2 files are as they were committed" in page["verdict"].text)
    assert "full" in page["ledger"].text and "2.5" in page["ledger"].text
    (run / "ledger.json").write_text(json.dumps({"mechanisms": []}))
    page.driver.refresh()
    page["tab-run"].click()
    page["folder"].send_keys(str(run))
    page.until(lambda: "ledger.json: changed since the commit" in page["differences"].text)


def test_an_audit_is_opened_here(page, tmp_path):
    (tmp_path / "audit.html").write_text("<h1>What attacks on the run found</h1>")
    page["tab-run"].click()
    page["audited"].send_keys(str(tmp_path / "audit.html"))
    page.until(lambda: page["audit-result"].is_displayed())
    page.driver.switch_to.frame("audit")
    page.until(lambda: "attacks" in page.driver.find_element("tag name", "h1").text)
    page.driver.switch_to.default_content()


def test_tabs_are_moved_by_arrows(page):
    from selenium.webdriver.common.keys import Keys

    page["tab-text"].send_keys(Keys.ARROW_RIGHT)
    assert (
        page["panel-speech"].is_displayed() and page.driver.switch_to.active_element.get_attribute("id") == "tab-speech"
    )
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert page["panel-text"].is_displayed()


def test_nothing_is_wider_than_a_phone(browser, url, sounds):
    page = Page(browser, url, 375)
    page.until(lambda: len(page.driver.find_elements("css selector", "#strategies article")) == 6)
    assert page.wide() <= 0
    page.shot("text_375")
    page.anonymise(sounds / "said.wav", spoken()[1]["text"])
    page.until(lambda: page["speech-result"].is_displayed())
    assert page.wide() <= 0
    page.shot("speech_375")
    page["tab-budget"].click()
    page.until(lambda: len(page.driver.find_elements("css selector", "svg.curve path")) == 2)
    assert page.wide() <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", ["text", "speech", "budget", "run"])
def test_axe_finds_nothing_serious(page, tab, scheme):
    axe = Path(os.environ.get("AXE", ".cache/axe/node_modules/axe-core/axe.min.js"))
    if not axe.exists():
        pytest.skip("needs axe-core: make test-page fetches it from npm")
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    page[f"tab-{tab}"].click()
    page.until(lambda: page["found"].text or tab != "text")
    page.driver.execute_cdp_cmd(
        "Runtime.evaluate", {"expression": axe.read_text()}
    )  # the page's own policy allows no other code
    found = page.driver.execute_async_script("axe.run().then(arguments[0])")
    serious = [
        (row["id"], [node["html"] for node in row["nodes"]])
        for row in found["violations"]
        if row["impact"] in ("serious", "critical")
    ]
    assert serious == []
    if scheme == "dark" and tab == "text":
        page.shot("text_dark")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
