"""The report in a real Chromium: nothing is cut off on a phone or a desk, and axe-core finds nothing serious.

make test-page        # Debian packages chromium and chromium-driver; axe-core comes from npm
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from whole_runs import demo_records, only_run, sottovoce, write_manifest

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
    sottovoce("sanitize", "--input", manifest, "--output", folder / "out", "--set", "sinks={slu: 0.5, stt_lm: 0.5}")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_axe_finds_nothing_serious(report, driver, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    dark = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    driver.get(f"file://{report}")
    assert driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0
    SHOTS.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(SHOTS / f"report_{width}_{scheme}.png"))
    if not AXE.exists():
        pytest.skip("needs axe-core: make test-page fetches it from npm")
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text()})
    found = driver.execute_async_script("axe.run().then(arguments[0])")["violations"]
    assert [row["id"] for row in found if row["impact"] in ("serious", "critical")] == []
