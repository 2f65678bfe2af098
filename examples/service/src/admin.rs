//! The page for operators, and the routes of its buttons.
//!
//! Everyone who can reach these routes can turn retries off. This service listens only on 127.0.0.1, and `same_origin`
//! refuses what other web pages send there. In your own service, put them behind your authentication too.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::response::{Html, IntoResponse};
use axum::routing::{get, post};
use axum::{Json, Router};
use reattempt::set_enabled;

use crate::presets;
use crate::status::Status;
use crate::upstream::{Health, Upstreams};

/// The page is one file. The browser may load nothing else, and may connect only to this service.
const ONLY_ITSELF: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
     connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The state that the page shows and changes.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) upstreams: Upstreams,
    /// The file of the settings.
    pub(crate) config: PathBuf,
    /// Checkouts a second that the service makes itself.
    pub(crate) load: Option<u32>,
}

/// The page at `/`, and its routes.
pub(crate) fn router(admin: Arc<Admin>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/status", get(status))
        .route("/retries/{on}", post(switch))
        .route("/config/reload", post(reload))
        .route("/upstreams/{name}/{health}", post(change_health))
        .with_state(admin)
}

async fn page() -> impl IntoResponse {
    let headers = [(CONTENT_SECURITY_POLICY, ONLY_ITSELF)];
    (headers, Html(include_str!("page.html")))
}

async fn status(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], Json(Status::of(&admin)))
}

/// Turns the retries of the whole process on or off.
async fn switch(Path(on): Path<bool>) -> StatusCode {
    set_enabled(on);
    StatusCode::NO_CONTENT
}

/// Reads the settings again. If there is a mistake, nothing changes, and the answer names it.
async fn reload(State(admin): State<Arc<Admin>>) -> Result<StatusCode, (StatusCode, String)> {
    // It reads a file, which blocks, so it runs on a thread for blocking work.
    let applied = tokio::task::spawn_blocking(move || presets::load(&admin.config)).await;
    match applied {
        Ok(Ok(())) => Ok(StatusCode::NO_CONTENT),
        Ok(Err(mistake)) => Err((StatusCode::UNPROCESSABLE_ENTITY, mistake)),
        Err(panicked) => Err((StatusCode::INTERNAL_SERVER_ERROR, panicked.to_string())),
    }
}

/// Makes an upstream healthy, slow, flaky or dead.
async fn change_health(
    State(admin): State<Arc<Admin>>,
    Path((name, health)): Path<(String, Health)>,
) -> StatusCode {
    let named = admin
        .upstreams
        .all()
        .into_iter()
        .find(|upstream| upstream.name == name);
    let Some(upstream) = named else {
        return StatusCode::NOT_FOUND;
    };
    upstream.health.send_replace(health);
    StatusCode::NO_CONTENT
}
