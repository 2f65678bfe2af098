//! The charts of the page. Each point of a path, each label of an axis and each line of a legend is compared with what
//! the test computes from the same answers of `/metrics`.

use crate::expected::Expected;
use crate::shown::{Chart, Read, Shape, Shown};
use crate::tables::{Window, capacity, short};

/// The seconds that a chart shows.
const KEPT: f64 = 120.0;

/// The seconds that a point of a chart is about.
const SMOOTH: f64 = 3.0;

/// The page rounds coordinates to one decimal.
const ROUNDED: f64 = 0.05 + 1e-6;

/// A line, or an area on top of those before it.
struct Series {
    name: String,
    /// `None` is a gap.
    values: Vec<Option<f64>>,
}

/// A chart that the page has to show.
struct Wanted {
    title: &'static str,
    unit: &'static str,
    series: Vec<Series>,
    stacked: bool,
    /// The end of the axis, if it does not follow the values.
    top: Option<f64>,
}

pub(crate) fn compare(shown: &Shown, read: &Read) {
    let all = wanted(read);
    assert_eq!(shown.charts.len(), all.len());
    let times: Vec<f64> = read.scrapes.iter().map(|(time, _)| *time).collect();
    for (chart, wanted) in shown.charts.iter().zip(&all) {
        assert_eq!(chart.title, wanted.title);
        let axes = Axes::of(chart, wanted);
        axes.hold(wanted);
        paths(chart, wanted, &axes, &times);
        legend(chart, wanted);
    }
}

fn wanted(read: &Read) -> Vec<Wanted> {
    let windows: Vec<Window> = (0..read.scrapes.len())
        .map(|at| read.window(at, SMOOTH))
        .collect();
    let functions = read.functions();
    let of_all = |name: &str, count: fn(&Window) -> f64| Series {
        name: name.to_owned(),
        values: windows
            .iter()
            .map(|window| Some(window.rate(count(window))))
            .collect(),
    };
    let of_each = |value: &dyn Fn(usize, &str) -> Option<f64>| {
        let series = functions.iter().map(|function| Series {
            name: short(function).to_owned(),
            values: (0..windows.len()).map(|at| value(at, function)).collect(),
        });
        series.collect::<Vec<_>>()
    };
    let lines = |title, unit, series, top| Wanted {
        title,
        unit,
        series,
        stacked: false,
        top,
    };
    let retries = |at: usize, function: &str| {
        let window: &Window = &windows[at];
        Some(window.rate(window.grown.of(function).retries()))
    };
    let level = |at: usize, function: &str| read.scrapes[at].1.of(function).budget();
    let delay = |at: usize, function: &str| {
        let mean = windows[at]
            .grown
            .of(function)
            .mean("reattempt_delay_seconds");
        mean.map(|seconds| 1000.0 * seconds)
    };
    let capacities = functions.iter().map(|function| capacity(read, function));
    let top = capacities.reduce(f64::max);
    vec![
        Wanted {
            title: "Calls",
            unit: "/s",
            series: vec![
                of_all("first attempt", |window| window.grown.ended("success")),
                of_all("after retries", |window| {
                    window.grown.ended("success_after_retry")
                }),
                of_all("failed", |window| window.grown.failed()),
            ],
            stacked: true,
            top: None,
        },
        lines("Retries", "/s", of_each(&retries), None),
        lines("Budget level", " tokens", of_each(&level), top),
        lines("Delay before a retry", " ms", of_each(&delay), None),
    ]
}

/// The axes of a chart, as its lines and labels give them.
struct Axes {
    left: f64,
    right: f64,
    zero: f64,
    end: f64,
    /// The value at the end.
    max: f64,
}

impl Axes {
    fn of(chart: &Chart, wanted: &Wanted) -> Self {
        let Wanted { title, unit, .. } = wanted;
        let [zero, middle, end] = &chart.grid[..] else {
            panic!("{title} has the lines {:?}", chart.grid);
        };
        let axes = Self {
            left: number(&zero.x1),
            right: number(&zero.x2),
            zero: number(&zero.y1),
            end: number(&end.y1),
            max: number(chart.texts[2].text.trim_end_matches(unit)),
        };
        assert!(axes.left < axes.right && axes.end < axes.zero, "{title}");
        let half = f64::midpoint(axes.zero, axes.end);
        assert!(
            (number(&middle.y1) - half).abs() < ROUNDED,
            "{title}: the line in the middle"
        );
        let values = [(zero, 0.0), (middle, axes.max / 2.0), (end, axes.max)];
        for ((line, value), label) in values.into_iter().zip(&chart.texts) {
            assert!(
                Expected::short(value, unit).is(&label.text),
                "{title}: {label:?}, not {value}"
            );
            let beside = number(&label.y) - number(&line.y1);
            assert!(
                (0.0..8.0).contains(&beside),
                "{title}: {label:?} is not at its line"
            );
            assert_eq!(
                (&line.y1, &line.x1),
                (&line.y2, &zero.x1),
                "{title}: a line that is not level"
            );
        }
        let minute = f64::midpoint(axes.left, axes.right);
        let moments = [
            ("2 min ago", axes.left),
            ("1 min ago", minute),
            ("now", axes.right),
        ];
        assert_eq!(chart.texts.len(), 6, "{title}: {:?}", chart.texts);
        for ((text, x), label) in moments.into_iter().zip(&chart.texts[3..]) {
            assert_eq!(label.text, text, "{title}");
            assert!(
                (number(&label.x) - x).abs() < ROUNDED,
                "{title}: {label:?}, not {x}"
            );
        }
        axes
    }

    /// Fails if a value is beyond the end of the axis.
    fn hold(&self, wanted: &Wanted) {
        let title = wanted.title;
        if let Some(top) = wanted.top {
            assert_eq!(self.max, top, "the axis of {title}");
        }
        // No function is known before its first call.
        let times = wanted.series.first().map_or(0, |first| first.values.len());
        for at in 0..times {
            let values = wanted.series.iter().filter_map(|series| series.values[at]);
            let highest = if wanted.stacked {
                values.sum()
            } else {
                values.fold(0.0, f64::max)
            };
            assert!(
                highest <= 1.001 * self.max,
                "{title}: {highest} is beyond the axis"
            );
        }
    }

    /// Where a value is, at a time before the last sample.
    fn place(&self, milliseconds_ago: f64, value: f64) -> (f64, f64) {
        let x = self.right - (self.right - self.left) * milliseconds_ago / (1000.0 * KEPT);
        (x, self.zero + (self.end - self.zero) * value / self.max)
    }
}

fn paths(chart: &Chart, wanted: &Wanted, axes: &Axes, times: &[f64]) {
    let newest = times[times.len() - 1];
    let mut base = vec![0.0; times.len()];
    assert_eq!(chart.paths.len(), wanted.series.len(), "{}", wanted.title);
    for (path, series) in chart.paths.iter().zip(&wanted.series) {
        let mut expected = Vec::new();
        let mut gap = true;
        for ((value, base), time) in series.values.iter().zip(&base).zip(times) {
            if let Some(value) = value {
                let letter = if gap { 'M' } else { 'L' };
                expected.push((letter, axes.place(newest - time, base + value)));
            }
            gap = value.is_none();
        }
        if wanted.stacked {
            // An area goes back along the one below it.
            for (base, time) in base.iter().zip(times).rev() {
                expected.push(('L', axes.place(newest - time, *base)));
            }
            for (base, value) in base.iter_mut().zip(&series.values) {
                *base += value.unwrap_or(0.0);
            }
        }
        let drawn = points(&path.d);
        let what = format!("{}: {}", wanted.title, series.name);
        assert_eq!(
            drawn.len(),
            expected.len(),
            "{what}: {drawn:?}, not {expected:?}"
        );
        for ((letter, (x, y)), (wanted, (at_x, at_y))) in drawn.iter().zip(&expected) {
            let near = (x - at_x).abs() <= ROUNDED && (y - at_y).abs() <= ROUNDED;
            assert!(
                near && letter == wanted,
                "{what}: {letter}{x},{y} is not {wanted}{at_x},{at_y}; the end of the axis is {}",
                axes.max
            );
        }
    }
}

/// The points of a path, each with the letter of its command.
fn points(path: &str) -> Vec<(char, (f64, f64))> {
    let path = path.trim_end_matches('Z');
    let starts: Vec<_> = path.match_indices(['M', 'L']).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([path.len()]);
    let points = starts.iter().zip(ends).map(|(&start, end)| {
        let (x, y) = path[start + 1..end].split_once(',').unwrap_or_default();
        let letter = if path[start..].starts_with('M') {
            'M'
        } else {
            'L'
        };
        (letter, (number(x), number(y)))
    });
    points.collect()
}

fn legend(chart: &Chart, wanted: &Wanted) {
    let title = wanted.title;
    assert_eq!(chart.legend.len(), wanted.series.len(), "{title}");
    let now = format!("{title}. Now: ");
    let label = chart
        .label
        .strip_prefix(&now)
        .and_then(|rest| rest.strip_suffix('.'));
    let label: Vec<_> = label.map_or(vec![], |label| label.split(", ").collect());
    if wanted.series.is_empty() {
        assert_eq!(label, ["no call yet"], "{title}");
        return;
    }
    assert_eq!(label.len(), wanted.series.len(), "{title}: {}", chart.label);
    for (((series, item), label), path) in wanted
        .series
        .iter()
        .zip(&chart.legend)
        .zip(label)
        .zip(&chart.paths)
    {
        let last = series.values.last().copied().flatten();
        let is = |text: &str, none: &str| {
            let text = text.strip_prefix(&format!("{} ", series.name));
            text.is_some_and(|text| match last {
                Some(value) => Expected::short(value, wanted.unit).is(text),
                None => text == none,
            })
        };
        assert!(
            is(&item.text, "–"),
            "{title}: {:?}, not {last:?}",
            item.text
        );
        assert!(is(label, "none"), "{title}: {label:?}, not {last:?}");
        let color = |shape: &Shape| {
            if wanted.stacked {
                (shape.fill.clone(), String::new())
            } else {
                (shape.stroke.clone(), shape.stroke_dasharray.clone())
            }
        };
        assert_eq!(
            color(item),
            color(path),
            "{title}: the colour of {}",
            series.name
        );
    }
}

fn number(text: &str) -> f64 {
    let number = text.replace(',', "");
    number
        .parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}
