//! A page that asks its server for a greeting and shows it. The server fails twice.

use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{retry, with_report};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[retry(attempts = 5, timeout = "5s", deadline = "30s", base = "20ms")]
async fn greeting(url: String) -> Result<String, RequestError> {
    Ok(reqwest::get(url).await?.check()?.text().await?)
}

/// Shows the greeting, or why there is none.
///
/// # Errors
///
/// - The page has no window, or no element `greeting`.
#[wasm_bindgen]
pub async fn show() -> Result<(), JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    let url = format!("{}/greeting", window.location().origin()?);
    let (result, report) = with_report(greeting(url)).await;
    let text = match (result, report) {
        (Ok(greeting), Some(report)) => format!("{greeting} after {} attempts", report.attempts()),
        (result, report) => format!("{result:?}, {report:?}"),
    };
    let document = window.document().ok_or("no document")?;
    let element = document.get_element_by_id("greeting").ok_or("no element")?;
    element.set_text_content(Some(&text));
    Ok(())
}
