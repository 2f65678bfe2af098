//! The effects of the buttons.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use crate::browser::Browser;
use crate::numbers::Numbers;
use crate::page::compare;
use crate::program::Service;
use crate::{PATIENCE, Tested, guide};

const PRICE: &str = "service::catalogue::price";
const ADD: &str = "service::cart::add";
const PLACE: &str = "service::orders::place";

/// Each upstream, a function that calls it, and the verdict on it when it is dead.
const UPSTREAMS: [(&str, &str, &str); 3] = [
    ("catalogue", PRICE, "refused"),
    // An error of `redis` does not say whether its connection was open when it was refused.
    ("cart", ADD, "transient"),
    ("orders", PLACE, "refused"),
];

pub(crate) async fn each_upstream_gets_slow_flaky_dead_and_healthy_by_its_button() -> Tested {
    let service = Service::start(20)?;
    let browser = Browser::open(&service.url).await?;
    for (upstream, function, dead) in UPSTREAMS {
        for health in ["slow", "flaky", "dead"] {
            press(&service, &browser, upstream, health).await?;
            let what = format!("{upstream} is {health}");
            let before = service.numbers().await?;
            service
                .until(&what, |now| {
                    fails(health, dead, &now.since(&before).of(function))
                })
                .await?;
            press(&service, &browser, upstream, "healthy").await?;
            recovers(&service, function).await?;
        }
    }
    shows_numbers(&service, &browser).await?;
    browser.close().await
}

/// Compares the page after a button was pressed.
async fn shows_numbers(service: &Service, browser: &Browser) -> Tested {
    // The page may have asked for the settings before the button was pressed, and shows the answer after it.
    browser.refreshed(2).await?;
    compare(service, browser).await?;
    Ok(())
}

/// Whether a function had the failures of an upstream with this health.
fn fails(health: &str, dead: &str, grown: &Numbers) -> bool {
    match health {
        // Each message is up to 600 ms late. The shortest timeout of an attempt is 100 ms.
        "slow" => grown.calls_above("0.1") >= 5.0,
        "flaky" => grown.judged("transient") > 0.0,
        _ => grown.judged(dead) > 0.0,
    }
}

/// Waits until ten attempts in a row succeed.
async fn recovers(service: &Service, function: &str) -> Tested {
    let began = Instant::now();
    let mut before = service.numbers().await?;
    while began.elapsed() < PATIENCE {
        let now = service
            .until("attempts", |now| {
                now.since(&before).of(function).attempts() >= 10.0
            })
            .await?;
        let grown = now.since(&before).of(function);
        if grown.attempts() == grown.judged("success") {
            return Ok(());
        }
        before = now;
    }
    Err(format!("{function} fails although its upstream is healthy").into())
}

/// Presses the button for the health of an upstream, as a person does: on its label. Fails if another upstream changes.
async fn press(service: &Service, browser: &Browser, upstream: &str, health: &str) -> Tested {
    let healths = async || -> Result<Vec<(Value, Value, Value)>, crate::Failure> {
        let status = service.status().await?;
        let all = status["upstreams"].as_array().ok_or("no upstreams")?.iter();
        let parts = |one: &Value| {
            (
                one["name"].clone(),
                one["health"].clone(),
                one["effect"].clone(),
            )
        };
        Ok(all.map(parts).collect())
    };
    let before = healths().await?;
    let input = format!("#{upstream}-{health}");
    browser.click(&format!("{input} + span")).await?;
    let began = Instant::now();
    let effect = loop {
        let now = healths().await?;
        let others = |all: &[(Value, Value, Value)]| {
            let mut others = all.to_vec();
            others.retain(|(name, ..)| name != upstream);
            others
        };
        assert_eq!(others(&now), others(&before), "{upstream}: {health}");
        let pressed = now
            .into_iter()
            .find(|(name, is, _)| name == upstream && is == health);
        if let Some((.., effect)) = pressed {
            break effect;
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{upstream} is not {health} within {PATIENCE:?}").into());
        }
        sleep(Duration::from_millis(50)).await;
    };
    let shown = format!(
        "return document.querySelector(`{input}`).checked
            && document.querySelector(`#upstream-{upstream} p`).textContent === {effect}"
    );
    browser
        .until("the page says what the button did", &shown)
        .await
}

pub(crate) async fn retries_stop_when_the_budget_is_empty_or_the_switch_is_off() -> Tested {
    let service = Service::start(20)?;
    let browser = Browser::open(&service.url).await?;

    press(&service, &browser, "orders", "dead").await?;
    counts(&browser, PLACE, "attempts_exhausted").await?;
    // With twenty checkouts a second, three retries each and two tokens for a retry, 200 tokens last two seconds, after the
    // first wave.
    counts(&browser, PLACE, "budget").await?;
    let level = format!("#functions [data-function='{PLACE}'] meter");
    browser
        .until(
            "the budget on the page falls",
            &format!("return document.querySelector(`{level}`).value < 50"),
        )
        .await?;
    assert!(
        service
            .numbers()
            .await?
            .of(PLACE)
            .budget()
            .is_some_and(|level| level < 50.0)
    );
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

    press(&service, &browser, "orders", "healthy").await?;
    press(&service, &browser, "cart", "slow").await?;
    counts(&browser, ADD, "timeout").await?;
    press(&service, &browser, "cart", "healthy").await?;

    press(&service, &browser, "catalogue", "flaky").await?;
    browser
        .until(
            "retries are shown",
            "return parseFloat(document.querySelector('#retried').textContent) > 0",
        )
        .await?;
    shows_numbers(&service, &browser).await?;

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
    counts(&browser, PRICE, "disabled").await?;
    // A call that waited when the switch was pressed makes one more attempt, which is not a new retry.
    let later = service
        .until("more calls", |now| now.all_calls() > off.all_calls())
        .await?;
    assert!(
        later.retries() <= off.retries(),
        "a retry while they are off"
    );
    browser.click("#retries").await?;
    let off_now = later.retries();
    service
        .until("retries again", |now| now.retries() > off_now)
        .await?;

    press(&service, &browser, "catalogue", "healthy").await?;
    browser
        .until(
            "nearly all succeed at once",
            "return parseFloat(document.querySelector('#first').textContent) > 97",
        )
        .await?;
    shows_numbers(&service, &browser).await?;
    browser.close().await
}

/// Waits until the page counts a failure of this kind.
async fn counts(browser: &Browser, function: &str, outcome: &str) -> Tested {
    let cell = format!("#outcomes [data-function='{function}'] [data-outcome='{outcome}']");
    let script = format!(
        "return Number(document.querySelector(`{cell}`)?.textContent.replaceAll(',', '') ?? 0) > 0"
    );
    browser
        .until(&format!("{function}: {outcome}"), &script)
        .await
}
