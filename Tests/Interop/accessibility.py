"""axe-core in a page, from the wheel of a package that brings it along."""

import importlib.util
import json
import pathlib

# The package itself needs another browser driver, so it is not imported.
_PACKAGE = importlib.util.find_spec("axe_playwright_python")
SOURCE = (pathlib.Path(_PACKAGE.submodule_search_locations[0]) / "axe.min.js").read_text()
# WCAG 2.2 A and AA, and what the authors of axe-core call best practices.
RULES = {"runOnly": [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def violations(browser):
    """What is wrong with the page as it is, one text for each element."""
    if not browser.run("return 'axe' in window"):
        browser.run(SOURCE)
    found = browser.run_async(
        f"const done = arguments[0]; axe.run(document, {json.dumps(RULES)})"
        ".then(found => done({violations: found.violations, passes: found.passes.length}),"
        " error => done({error: String(error)}))")
    assert found.get("passes", 0) > 5, f"axe-core has checked nothing: {found}"
    return [f"{rule['id']}: {node['target']} {node['failureSummary']}"
            for rule in found["violations"] for node in rule["nodes"]]
