"""The report in a real Chromium: nothing is cut off on a phone or a desk, and axe-core finds nothing serious.

make test-page        # Debian packages chromium and chromium-driver; axe-core comes from npm
"""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path

import pytest
from whole_runs import DEMO, demo_records, only_run, sottovoce, write_manifest

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(
        not shutil.which("chromedriver"), reason="needs Chromium: apt-get install chromium chromium-driver"
    ),
]
SHOTS = Path(os.environ.get("SOTTOVOCE_SHOTS", "out/page")).resolve()
AXE = Path(os.environ.get("AXE", ".cache/axe/node_modules/axe-core/axe.min.js")).resolve()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported")
    manifest = write_manifest(folder / "in", [*demo_records(40), "no record"])
    roots = f"input.audio_roots=[{DEMO}]"
    sottovoce(
        "sanitize", "--input", manifest, "--output", folder / "out", "--sinks", "slu", "dm", "stt_am", "--set", roots
    )
    return only_run(folder / "out") / "report.html"


@pytest.fixture(scope="module")
def driver():
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


def seen(driver, report, width, **media):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(f"file://{report}")
    return driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_axe_finds_nothing_serious(report, driver, width, scheme):
    assert seen(driver, report, width, features=[{"name": "prefers-color-scheme", "value": scheme}]) <= 0
    SHOTS.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(SHOTS / f"report_{width}_{scheme}.png"))
    if not AXE.exists():
        pytest.skip("needs axe-core: make test-page fetches it from npm")
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text()})
    found = driver.execute_async_script("axe.run().then(arguments[0])")["violations"]
    assert [row["id"] for row in found if row["impact"] in ("serious", "critical")] == []


def test_the_example_is_heard_before_and_after(report, driver):
    seen(driver, report, 1280)
    loaded = """const done = arguments[0], all = [...document.querySelectorAll("audio")];
    const whole = one => new Promise(end => { one.onloadedmetadata = one.onerror = end; one.preload = "auto"; one.load(); });
    Promise.all(all.map(whole))
      .then(() => done(all.map(one => one.error ? 0 : one.duration)))"""
    lengths = driver.execute_async_script(loaded)
    assert len(lengths) >= 2 and all(1 < length < 10 for length in lengths)


def test_nothing_is_cut_off_on_paper(report, driver):
    """A4 within its margins; and the browser prints it."""
    assert seen(driver, report, 673, media="print") <= 0
    wide = "return [...document.querySelectorAll('table, pre')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert driver.execute_script(wide) == 0
    printed = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    (SHOTS / "report.pdf").write_bytes(printed)
    assert printed.startswith(b"%PDF") and 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 20
