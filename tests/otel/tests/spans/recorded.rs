//! The exported spans, as a tree that tests can compare.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use opentelemetry::Value;
use opentelemetry::trace::{SpanId, Status, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Span};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{Layer, Registry};

/// The spans of this thread, on which a test with a paused clock runs.
pub(crate) struct Recorded {
    exporter: InMemorySpanExporter,
    pub(crate) subscriber: Dispatch,
    _guard: DefaultGuard,
}

impl Recorded {
    pub(crate) fn start() -> Self {
        Self::filtered(Targets::new().with_default(LevelFilter::TRACE))
    }

    pub(crate) fn filtered(filter: impl Layer<Registry> + Send + Sync) -> Self {
        // With a single subscriber, `tracing` asks only the thread that first reaches a span whether it wants the
        // span, and uses that answer for all threads.
        static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
        LazyLock::force(&SECOND);
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let registry = tracing_subscriber::registry().with(filter).with(layer);
        let subscriber = Dispatch::new(registry);
        Self {
            exporter,
            _guard: tracing::dispatcher::set_default(&subscriber),
            subscriber,
        }
    }

    /// The closed spans, in the order in which they began.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        let mut spans = self.exporter.get_finished_spans().unwrap();
        spans.sort_by_key(|span| span.start_time);
        spans
    }

    /// The closed spans as lines, indented by their depth: name, number, verdict or outcome, status.
    pub(crate) fn tree(&self) -> Vec<String> {
        let spans = self.spans();
        let mut lines = Vec::new();
        let known = |id| spans.iter().any(|span| span.span_context.span_id() == id);
        for root in spans.iter().filter(|span| !known(span.parent_span_id)) {
            branch(&spans, root, 0, &mut lines);
        }
        lines
    }

    /// The only span with this name.
    pub(crate) fn only(&self, name: &str) -> SpanData {
        let mut found = self.spans();
        found.retain(|span| span.name == name);
        assert_eq!(found.len(), 1, "{name}: {found:#?}");
        found.remove(0)
    }
}

fn branch(spans: &[SpanData], span: &SpanData, depth: usize, lines: &mut Vec<String>) {
    let parts = ["attempt", "verdict", "outcome"].map(|key| text(span, key));
    let mut line = format!("{:1$}{2}", "", depth * 2, span.name);
    for part in parts.into_iter().flatten() {
        line.push(' ');
        line.push_str(&part);
    }
    match &span.status {
        Status::Unset => {}
        status => write!(line, " {status:?}").unwrap(),
    }
    lines.push(line);
    let id = span.span_context.span_id();
    for child in spans.iter().filter(|child| child.parent_span_id == id) {
        branch(spans, child, depth + 1, lines);
    }
}

pub(crate) fn value(span: &SpanData, key: &str) -> Option<Value> {
    let mut found = span.attributes.iter().filter(|own| own.key.as_str() == key);
    let value = found.next()?.value.clone();
    assert!(found.next().is_none(), "{key} twice: {span:#?}");
    Some(value)
}

pub(crate) fn text(span: &SpanData, key: &str) -> Option<String> {
    value(span, key).map(|value| value.as_str().into_owned())
}

pub(crate) fn is_root(span: &SpanData) -> bool {
    span.parent_span_id == SpanId::INVALID
}

/// Whether this thread is outside of all spans.
pub(crate) fn is_outside() -> bool {
    Span::current().id().is_none()
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
