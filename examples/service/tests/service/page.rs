//! The contents of the page, and the effects of its buttons.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::browser::Browser;
use crate::program::Service;
use crate::{Failure, Tested, guide};

const PRICE: &str = "service::catalogue::price";
const ADD: &str = "service::cart::add";
const PLACE: &str = "service::orders::place";

pub(crate) async fn shows_numbers() -> Tested {
    let service = Service::start(20)?;
    let browser = Browser::open(&service.url).await?;
    // A flaky upstream gives several outcomes. The test of the buttons has the other failures.
    service.post("/upstreams/catalogue/flaky").await?;
    service
        .until("success after retries", |now| {
            now.calls(PRICE, "success_after_retry") >= 3.0
        })
        .await?;
    compare(&service, &browser).await?;
    let script = "return [...document.querySelectorAll('#policies tr')].map((row) => row.dataset.function).sort()";
    let with_policy: Vec<String> = serde_json::from_value(browser.run(script).await?)?;
    let counted = service.numbers().await?.counted();
    let counted: BTreeSet<_> = counted.into_iter().map(|(function, _)| function).collect();
    assert_eq!(
        with_policy,
        Vec::from_iter(counted),
        "functions with a policy"
    );

    // The numbers of the last ten seconds, beside the same ten seconds of the metrics.
    browser.refreshed(1).await?;
    let (before, began) = (service.numbers().await?, Instant::now());
    browser.refreshed(11).await?;
    let (after, seconds) = (service.numbers().await?, began.elapsed().as_secs_f64());
    let expected = (after.all_calls() - before.all_calls()) / seconds;
    near(number(&browser, "#calls", "/s").await?, expected, 0.25);
    let expected = (after.retries() - before.retries()) / seconds;
    near(number(&browser, "#retried", "/s").await?, expected, 0.6);
    let shares = [("#first", "success"), ("#later", "success_after_retry")];
    for (tile, outcome) in shares {
        let calls = after.all_calls() - before.all_calls();
        let expected = 100.0 * (after.ended(outcome) - before.ended(outcome)) / calls;
        let shown = number(&browser, tile, " %").await?;
        assert!(
            (shown - expected).abs() < 6.0,
            "{tile}: {shown} %, {expected} % in the metrics"
        );
    }
    browser.close().await
}

/// Compares the numbers of calls by function and outcome. They grow all the time, so each number on the page is
/// between the metrics before and after.
async fn compare(service: &Service, browser: &Browser) -> Tested {
    let before = service.numbers().await?;
    // One reading may have been under way.
    browser.refreshed(2).await?;
    let script = "return [...document.querySelectorAll('#outcomes td')]
        .map((cell) => [cell.parentElement.dataset.function, cell.dataset.outcome, cell.textContent])";
    let shown: Vec<[String; 3]> = serde_json::from_value(browser.run(script).await?)?;
    let after = service.numbers().await?;
    let counted = before.counted();
    assert!(counted.len() >= 5, "{counted:?}");
    for (function, outcome) in counted {
        let cell = shown
            .iter()
            .find(|[f, o, _]| (f, o) == (&function, &outcome));
        let [_, _, text] = cell.ok_or(format!("{function} {outcome} is not on the page"))?;
        let shown: f64 = text.replace(',', "").parse()?;
        let range = before.calls(&function, &outcome)..=after.calls(&function, &outcome);
        assert!(
            range.contains(&shown),
            "{function} {outcome}: {shown} is not in {range:?}"
        );
    }
    Ok(())
}

fn near(shown: f64, expected: f64, tolerance: f64) {
    let difference = (shown - expected).abs() / expected;
    assert!(
        difference <= tolerance,
        "the page says {shown}, the metrics {expected}"
    );
}

/// A number on the page, which has this unit.
async fn number(browser: &Browser, selector: &str, unit: &str) -> Result<f64, Failure> {
    let script = format!("return document.querySelector(`{selector}`).textContent");
    let text = browser.run(&script).await?;
    let text = text.as_str().ok_or("no text")?;
    let number = text
        .strip_suffix(unit)
        .ok_or(format!("{text:?} is not in {unit:?}"))?;
    Ok(number.replace(',', "").parse()?)
}

pub(crate) async fn buttons_act() -> Tested {
    let service = Service::start(20)?;
    let browser = Browser::open(&service.url).await?;

    choose(&browser, "orders", "dead").await?;
    fails(&browser, PLACE, "attempts_exhausted").await?;
    // With twenty checkouts a second, three retries each and two tokens for a retry, 500 tokens last some five seconds.
    fails(&browser, PLACE, "budget").await?;
    let level = format!("#functions [data-function='{PLACE}'] meter");
    browser
        .until(
            "the budget on the page falls",
            &format!("return document.querySelector(`{level}`).value < 50"),
        )
        .await?;
    assert!(service.numbers().await?.budget(PLACE) < 50.0);
    // A function logs ten events of a kind in a second, so some come later.
    service
        .logs("a refusal", |line| {
            line.contains("gave up") && line.contains(PLACE) && line.contains(r#"outcome="budget""#)
        })
        .await?;
    for field in guide::fields()? {
        let field = format!(" {field}=");
        service.logs(&field, |line| line.contains(&field)).await?;
    }

    choose(&browser, "orders", "healthy").await?;
    choose(&browser, "cart", "slow").await?;
    fails(&browser, ADD, "timeout").await?;
    choose(&browser, "cart", "healthy").await?;

    choose(&browser, "catalogue", "flaky").await?;
    browser
        .until(
            "retries are shown",
            "return parseFloat(document.querySelector('#retried').textContent) > 0",
        )
        .await?;
    compare(&service, &browser).await?;

    browser.click("#retries").await?;
    browser
        .until(
            "the switch is off",
            "return document.querySelector('#retries').getAttribute('aria-checked') === 'false'",
        )
        .await?;
    let off = service
        .until("a call that may not retry", |now| {
            now.ended("disabled") > 0.0
        })
        .await?;
    fails(&browser, PRICE, "disabled").await?;
    // A call that waited when the switch was pressed makes one more attempt, which is not a new retry.
    let later = service.numbers().await?;
    assert!(later.all_calls() > off.all_calls());
    assert!(
        later.retries() <= off.retries(),
        "a retry while they are off"
    );
    browser.click("#retries").await?;
    let off_now = later.retries();
    service
        .until("retries again", |now| now.retries() > off_now)
        .await?;

    choose(&browser, "catalogue", "healthy").await?;
    browser
        .until(
            "nearly all succeed at once",
            "return parseFloat(document.querySelector('#first').textContent) > 97",
        )
        .await?;
    compare(&service, &browser).await?;
    browser.close().await
}

/// Presses the button for the health of an upstream, as a person does: on its label.
async fn choose(browser: &Browser, upstream: &str, health: &str) -> Tested {
    let input = format!("#{upstream}-{health}");
    browser.click(&format!("{input} + span")).await?;
    let shown = format!("return document.querySelector(`{input}`).checked");
    browser.until("the button is pressed", &shown).await
}

/// Waits until the page counts a failure of this kind.
async fn fails(browser: &Browser, function: &str, outcome: &str) -> Tested {
    let cell = format!("#outcomes [data-function='{function}'] [data-outcome='{outcome}']");
    let script = format!(
        "return Number(document.querySelector(`{cell}`)?.textContent.replaceAll(',', '') ?? 0) > 0"
    );
    browser
        .until(&format!("{function}: {outcome}"), &script)
        .await
}

pub(crate) async fn follows_reload() -> Tested {
    let service = Service::start(5)?;
    let browser = Browser::open(&service.url).await?;
    let settings = format!("#policies [data-function='{PRICE}'] [data-setting");
    let is = |setting: &str, text: &str| {
        format!("return document.querySelector(`{settings}='{setting}']`).textContent === '{text}'")
    };
    browser
        .until("the policy in the code", &is("attempts", "4"))
        .await?;

    fs::write(
        service.config(),
        "[catalogue]\nattempts = 2\ntimeout = '150ms'",
    )?;
    browser.click("#reload").await?;
    browser
        .until("the new attempts", &is("attempts", "2"))
        .await?;
    browser
        .until("the new timeout", &is("timeout", "150ms"))
        .await?;

    fs::write(service.config(), "[catalogue]\natempts = 3")?;
    browser.click("#reload").await?;
    browser
        .until(
            "the mistake",
            "return document.querySelector('#mistakes').checkVisibility()",
        )
        .await?;
    let mistake = browser
        .run("return document.querySelector('#mistakes').textContent")
        .await?;
    let expected = "retry.toml:2: catalogue: unknown key `atempts`; did you mean `attempts`?";
    assert!(
        mistake.as_str().is_some_and(|text| text.contains(expected)),
        "{mistake}"
    );
    browser
        .until("the settings stay", &is("attempts", "2"))
        .await?;
    // The browser writes every answer that is a failure to its console.
    browser.close_with(&["422 (Unprocessable Entity)"]).await
}

/// Shows the service in a bad minute, and takes a picture of it. `pngquant` makes it small.
pub(crate) async fn take_picture(path: PathBuf) -> Tested {
    let service = Service::start(40)?;
    let browser = Browser::open(&service.url).await?;
    let minute = [
        (25, "catalogue", "flaky"),
        (25, "cart", "slow"),
        (12, "cart", "healthy"),
        (14, "orders", "dead"),
        (16, "orders", "healthy"),
        (22, "orders", "flaky"),
    ];
    for (seconds, upstream, health) in minute {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        service
            .post(&format!("/upstreams/{upstream}/{health}"))
            .await?;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    browser.resize(1280).await?;
    fs::write(&path, browser.picture().await?)?;
    let quantized = Command::new("pngquant")
        .args(["--force", "--ext", ".png", "128"])
        .arg(&path)
        .status()
        .map_err(|error| format!("pngquant (apt-get install pngquant): {error}"))?;
    assert!(quantized.success(), "pngquant: {quantized}");
    browser.close().await
}
