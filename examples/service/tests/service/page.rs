//! The contents of the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::browser::Browser;
use crate::program::Service;
use crate::shown::{Read, Shown};
use crate::{Failure, PATIENCE, Tested, charts, tables};

pub(crate) async fn the_page_shows_the_numbers_of_metrics() -> Tested {
    let service = Service::start(20)?;
    service.post("/upstreams/catalogue/flaky").await?;
    service.post("/upstreams/orders/dead").await?;
    let browser = Browser::open(&service.url).await?;
    let began = Instant::now();
    while !tells_numbers_apart(&compare(&service, &browser).await?) {
        if began.elapsed() > PATIENCE {
            return Err("too little has happened to tell the numbers apart".into());
        }
        browser.refreshed(1).await?;
    }
    browser.close().await
}

/// Compares every number on the page with those that the test computes from what the page has read.
pub(crate) async fn compare(service: &Service, browser: &Browser) -> Result<Read, Failure> {
    let (shown, read) = Shown::on(browser, service).await?;
    tables::compare(&shown, &read);
    charts::compare(&shown, &read);
    Ok(read)
}

/// Whether no two numbers of a row are the same by chance, and the page has more scrapes than it needs for the last ten
/// seconds. Only then does a page with mistakes differ from one without.
fn tells_numbers_apart(read: &Read) -> bool {
    let latest = read.latest();
    let all = &latest.grown;
    let mut counts = [
        all.all_calls(),
        all.ended("success"),
        all.ended("success_after_retry"),
        all.failed(),
        all.retries(),
        all.attempts(),
        0.0,
    ];
    counts.sort_by(f64::total_cmp);
    let functions = read.functions();
    let any = |is: &dyn Fn(&str) -> bool| functions.iter().any(|function| is(function));
    let delay = |function: &str| all.of(function).quantile(0.95, "reattempt_delay_seconds");
    let budget = |function: &str| read.total().of(function).budget();
    counts.windows(2).all(|pair| pair[0] < pair[1])
        && any(&|function| delay(function).is_some())
        && any(&|function| delay(function).is_none())
        && any(&|function| budget(function).is_some_and(|level| level < 450.0))
        && read.scrapes.len() > 13
}

pub(crate) async fn the_page_shows_what_a_test_scrapes_when_no_call_runs() -> Tested {
    let service = Service::start_still()?;
    let browser = Browser::open(&service.url).await?;
    let read = compare(&service, &browser).await?;
    assert_eq!(read.total().all_calls(), 0.0);

    for health in ["healthy", "dead"] {
        let path = format!("/upstreams/catalogue/{health}");
        service.post(&path).await?;
        for _ in 0..5 {
            service.check_out().await?;
        }
    }
    // One reading may have been under way.
    browser.refreshed(2).await?;
    let read = compare(&service, &browser).await?;
    // No call runs any more, so what the page got is what the test gets.
    assert_eq!(*read.total(), service.numbers().await?);
    assert_eq!(read.total().all_calls(), 35.0);
    picture_shows_whole_page(&browser).await?;
    browser.close().await
}

/// Writes a picture as `--screenshot` does, and reads its size.
async fn picture_shows_whole_page(browser: &Browser) -> Tested {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("page.png");
    write_picture(browser, &path).await?;
    let picture = fs::read(path)?;
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    let size = |at: usize| picture[at..at + 4].try_into().map(u32::from_be_bytes);
    let page = "const { scrollWidth, scrollHeight } = document.documentElement; return [scrollWidth, scrollHeight]";
    let page: [u32; 2] = serde_json::from_value(browser.run(page).await?)?;
    assert_eq!([size(16)?, size(20)?], page);
    Ok(())
}

pub(crate) async fn the_policy_table_follows_a_reload() -> Tested {
    let service = Service::start(5)?;
    let browser = Browser::open(&service.url).await?;
    let settings = "#policies [data-function='service::catalogue::price'] [data-setting";
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
    let text = mistake.as_str().unwrap_or_default();
    for part in [
        "found `atempts`, expected `one of `attempts`,",
        "retry.toml TOML file",
    ] {
        assert!(text.contains(part), "{mistake}");
    }
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
    write_picture(&browser, &path).await?;
    let quantized = Command::new("pngquant")
        .args(["--force", "--ext", ".png", "128"])
        .arg(&path)
        .status()
        .map_err(|error| format!("pngquant (apt-get install pngquant): {error}"))?;
    assert!(quantized.success(), "pngquant: {quantized}");
    browser.close().await
}

async fn write_picture(browser: &Browser, path: &Path) -> Tested {
    browser.resize(1280).await?;
    Ok(fs::write(path, browser.picture().await?)?)
}
