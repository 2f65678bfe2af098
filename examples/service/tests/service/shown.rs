//! What the page shows at one moment, and what it has read until then.

use serde::Deserialize;
use serde_json::Value;

use crate::Failure;
use crate::browser::Browser;
use crate::numbers::Numbers;
use crate::program::Service;

/// Runs before the page. Keeps each answer of `/metrics`, with the times before the request and after the answer.
pub(crate) const RECORDER: &str = r#"
    window.answers = [];
    const { fetch } = window;
    window.fetch = async (path, ...rest) => {
        const asked = performance.now();
        const answer = await fetch(path, ...rest);
        if (path === "/metrics") {
            const text = await answer.clone().text();
            answers.push({ asked: String(asked), arrived: String(performance.now()), text });
        }
        return answer;
    };
"#;

/// Reads everything at once, so that the page cannot refresh in between. `samples` is the page's own list. The page has
/// drawn as many answers as it counts in `reads`.
const READ: &str = r##"
    const reads = Number(document.body.dataset.reads);
    const text = (selector) => document.querySelector(selector).textContent;
    const rows = (selector) => [...document.querySelector(selector).closest("table").rows]
        .map((row) => [...row.cells].map((cell) => cell.textContent));
    const attributes = (element, names) =>
        Object.fromEntries(names.map((name) => [name, element.getAttribute(name) ?? ""]));
    const shapes = (svg, tag, names) => [...svg.querySelectorAll(tag)].map((shape) => (
        { ...attributes(shape, names), text: shape.textContent }));
    return {
        times: samples.map(({ time }) => String(time)),
        answers: answers.slice(reads - samples.length, reads + 1),
        tiles: [...document.querySelectorAll(".tile")].map((tile) => [...tile.children].map((part) => part.textContent)),
        functions: rows("#functions"), outcomes: rows("#outcomes"), policies: rows("#policies"),
        policy_texts: [...document.querySelectorAll("#policy-texts > div")].map((div) => (
            [...div.children].map((part) => part.textContent))),
        meters: [...document.querySelectorAll("#functions meter")].map(({ value, max }) => ({ value, max })),
        about: text("#about"),
        switch_text: text("#retries"),
        switch_on: document.querySelector("#retries").getAttribute("aria-checked"),
        upstreams: [...document.querySelectorAll("#upstreams fieldset")].map((box) => ({
            legend: box.querySelector("legend").textContent, text: box.querySelector("p").textContent,
            choices: [...box.querySelectorAll("label")].map((label) => label.textContent),
            chosen: [...box.querySelectorAll("input")].filter((input) => input.checked).map((input) => input.value),
        })),
        notices: [...document.querySelectorAll(".notice")].filter((notice) => notice.checkVisibility()).map(({ id }) => id),
        charts: [...document.querySelectorAll("figure")].map((figure) => {
            const svg = figure.querySelector("svg[role=img]");
            const lines = (of, tag) => shapes(of, tag, ["x1", "x2", "y1", "y2", "stroke", "stroke-dasharray"]);
            return {
                title: figure.querySelector("h2").textContent,
                label: svg.getAttribute("aria-label"),
                grid: lines(svg, "line"),
                texts: shapes(svg, "text", ["x", "y"]),
                paths: shapes(svg, "path", ["d", "fill", "stroke", "stroke-dasharray"]),
                legend: [...figure.querySelectorAll("li")].map((item) => ({
                    text: item.textContent,
                    ...attributes(item.querySelector("line, rect"), ["fill", "stroke", "stroke-dasharray"]),
                })),
            };
        }),
    };
"##;

/// An answer that the page got. The times are texts, because a number in JSON may lose its last bit.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    asked: String,
    arrived: String,
    pub(crate) text: String,
}

/// Which button of an upstream is pressed, and the texts beside it.
#[derive(Debug, Deserialize)]
pub(crate) struct Upstream {
    pub(crate) legend: String,
    pub(crate) text: String,
    pub(crate) choices: Vec<String>,
    pub(crate) chosen: Vec<String>,
}

/// The bar of a budget.
#[derive(Debug, Deserialize)]
pub(crate) struct Meter {
    pub(crate) value: f64,
    pub(crate) max: f64,
}

/// The attributes of a shape in a chart, with the names of SVG. Those of other shapes are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Shape {
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) x1: String,
    pub(crate) x2: String,
    pub(crate) y1: String,
    pub(crate) y2: String,
    pub(crate) d: String,
    pub(crate) fill: String,
    pub(crate) stroke: String,
    pub(crate) stroke_dasharray: String,
    pub(crate) text: String,
}

/// A chart as it is drawn.
#[derive(Debug, Deserialize)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) label: String,
    pub(crate) grid: Vec<Shape>,
    pub(crate) texts: Vec<Shape>,
    pub(crate) paths: Vec<Shape>,
    pub(crate) legend: Vec<Shape>,
}

/// The page at one moment.
#[derive(Debug, Deserialize)]
pub(crate) struct Shown {
    times: Vec<String>,
    answers: Vec<Answer>,
    pub(crate) tiles: Vec<Vec<String>>,
    pub(crate) functions: Vec<Vec<String>>,
    pub(crate) outcomes: Vec<Vec<String>>,
    pub(crate) policies: Vec<Vec<String>>,
    pub(crate) policy_texts: Vec<Vec<String>>,
    pub(crate) meters: Vec<Meter>,
    pub(crate) about: String,
    pub(crate) switch_text: String,
    pub(crate) switch_on: String,
    pub(crate) upstreams: Vec<Upstream>,
    pub(crate) notices: Vec<String>,
    pub(crate) charts: Vec<Chart>,
}

/// What the page has read: a scrape for each second.
pub(crate) struct Read {
    /// Milliseconds and numbers, oldest first.
    pub(crate) scrapes: Vec<(f64, Numbers)>,
    /// What `/status` says to the test.
    pub(crate) status: Value,
}

impl Shown {
    /// Reads the page, which must have refreshed since the settings changed.
    pub(crate) async fn on(browser: &Browser, service: &Service) -> Result<(Self, Read), Failure> {
        let shown: Self = serde_json::from_value(browser.run(READ).await?)?;
        let status = service.status().await?;
        let scrapes = shown.scrapes()?;
        Ok((shown, Read { scrapes, status }))
    }

    /// What the page has read. Fails if the page gives a sample another time than that of its answer.
    fn scrapes(&self) -> Result<Vec<(f64, Numbers)>, Failure> {
        let mut scrapes = Vec::new();
        for (at, time) in self.times.iter().enumerate() {
            let (time, answer) = (time.parse()?, &self.answers[at]);
            let next = match self.answers.get(at + 1) {
                Some(next) => next.asked.parse()?,
                None => f64::MAX,
            };
            assert!(
                (answer.arrived.parse::<f64>()?..=next).contains(&time),
                "sample {at} has the time {time}, its answer {answer:?}"
            );
            scrapes.push((time, Numbers::parse(&answer.text)));
        }
        Ok(scrapes)
    }
}
