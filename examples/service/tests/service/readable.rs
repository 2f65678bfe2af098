//! Every text on the page is readable: it has enough contrast with its background, and no other text is above it.

use crate::Tested;
use crate::browser::Browser;
use crate::program::Service;

/// The least contrast of text, after WCAG 2.2, success criterion 1.4.3 (level AA).
const LEAST: &str = "4.5";

/// Returns each text whose contrast with its background is too low. The formulas of relative luminance and contrast
/// ratio are those of WCAG 2.2.
const CONTRAST: &str = r#"
    const parts = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = ([r, g, b]) => {
        const linear = [r, g, b].map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const color = parts(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] > 0) return color;
        }
        return [255, 255, 255];
    };
    const bad = [];
    for (const element of document.body.querySelectorAll("*")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!own || !element.checkVisibility() || element.closest("script, style")) continue;
        const style = getComputedStyle(element);
        const inSvg = element instanceof SVGElement;
        const color = parts(inSvg ? style.fill : style.color);
        const [a, b] = [luminance(color), luminance(behind(element))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < LEAST) bad.push(`${element.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
    return bad;
"#;

/// Returns each pair of texts of which one is above the other.
const OVERLAPS: &str = r#"
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, style")) continue;
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        for (const box of range.getClientRects()) texts.push([box, walker.currentNode.data.trim().slice(0, 40)]);
    }
    const bad = [];
    texts.forEach(([a, one], at) => texts.slice(at + 1).forEach(([b, other]) => {
        const [across, down] = [
            Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
        ];
        if (across > 1 && down > 4) bad.push(`${one} / ${other}`);
    }));
    return bad;
"#;

/// Returns each control without a name for a screen reader.
const NAMELESS: &str = r#"
    return [...document.querySelectorAll("button, input, svg[role=img], meter")]
        .filter((control) => !(control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.length))
        .map((control) => control.outerHTML.slice(0, 80));
"#;

pub(crate) async fn every_text_on_the_page_can_be_read() -> Tested {
    let service = Service::start(20)?;
    let browser = Browser::open(&service.url).await?;
    service.post("/upstreams/catalogue/flaky").await?;
    service.post("/upstreams/orders/dead").await?;
    service.post("/retries/false").await?;
    service
        .until("a failure", |now| now.ended("disabled") > 0.0)
        .await?;
    browser.refreshed(3).await?;
    browser.click("summary").await?;
    for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 390)] {
        browser.prefer(theme).await?;
        browser.resize(width).await?;
        let scrolls = "return document.documentElement.scrollWidth";
        assert_eq!(browser.run(scrolls).await?, width, "wider than its window");
        for (what, script) in [
            ("too pale", CONTRAST.replace("LEAST", LEAST)),
            ("above each other", OVERLAPS.to_owned()),
            ("without a name", NAMELESS.to_owned()),
        ] {
            let found = browser.run(&script).await?;
            assert_eq!(
                found,
                serde_json::json!([]),
                "{what}, {theme}, {width} pixels wide"
            );
        }
    }
    // Every control can be reached with the keyboard.
    let unreachable = "return [...document.querySelectorAll('button, input, summary, .scroll')]
        .filter((control) => control.tabIndex < 0).length";
    assert_eq!(browser.run(unreachable).await?, 0);
    browser.close().await
}
