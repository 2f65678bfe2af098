//! Draws charts of lines as SVG.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;

/// A chart.
#[derive(Debug)]
pub struct Chart<'a> {
    /// The title.
    pub title: &'a str,
    /// The label of the first axis.
    pub x: &'a str,
    /// The label of the second axis.
    pub y: &'a str,
    /// Whether the axes are logarithmic.
    pub log: [bool; 2],
    /// The lines, in the order of the names.
    pub lines: Vec<Line>,
}

/// A line of a chart.
#[derive(Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Its style.
    pub style: Style,
}

/// The style of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A line with its own colour.
    Line,
    /// Dots in the colour of the line before, without a name.
    Dots,
    /// A thin grey line: a bound.
    Bound,
}

/// Colours that colour-blind people can tell apart. Source: Okabe and Ito, 2008.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

const WIDTH: u32 = 1000;
const NAMES: u32 = 350;

impl Chart<'_> {
    /// Draws the chart into a file.
    ///
    /// # Errors
    ///
    /// - The file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<()> {
        let area = SVGBackend::new(path, (WIDTH, 420)).into_drawing_area();
        self.on(&area).map_err(|error| anyhow!("{error}"))
    }

    fn on(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn {
        // The background is white, also for readers with dark pages.
        area.fill(&WHITE)?;
        let [xs, ys] = [|point: &(f64, f64)| point.0, |point: &(f64, f64)| point.1]
            .map(|value| self.lines.iter().flat_map(|line| &line.points).map(value));
        let (left, right) = xs.fold((f64::MAX, 0.0_f64), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let (low, high) = ys.fold((f64::MAX, 0.0_f64), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        // The names stand beside the plot, so that they hide no line.
        let (plot, names) = area.split_horizontally(WIDTH - NAMES);
        self.names(&names)?;
        let mut builder = ChartBuilder::on(&plot);
        builder
            .caption(self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(64);
        let (x, y) = (left..right, 0.0..high * 1.05);
        let (log_x, log_y) = (
            (left..right).log_scale(),
            (low / 1.2..high * 1.2).log_scale(),
        );
        match self.log {
            [false, false] => self.lines(builder.build_cartesian_2d(x, y)?),
            [true, false] => self.lines(builder.build_cartesian_2d(log_x, y)?),
            [false, true] => self.lines(builder.build_cartesian_2d(x, log_y)?),
            [true, true] => self.lines(builder.build_cartesian_2d(log_x, log_y)?),
        }?;
        area.present()?;
        Ok(())
    }

    fn lines<'a, 'b: 'a, X, Y>(
        &self,
        mut chart: ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>,
    ) -> Drawn
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&|x| format!("{x}"))
            .y_label_formatter(&|y| format!("{}", (y * 100.0).round() / 100.0))
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .draw()?;
        for (line, colour) in self.coloured() {
            let points = line.points.iter().copied();
            match line.style {
                Style::Dots => {
                    let dot = |point| Circle::new(point, 3, colour.stroke_width(1));
                    chart.draw_series(points.map(dot))?;
                }
                Style::Line => {
                    chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
                }
                Style::Bound => {
                    chart.draw_series(LineSeries::new(points, colour.stroke_width(1)))?;
                }
            }
        }
        Ok(())
    }

    fn names(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn {
        let named = self
            .coloured()
            .filter(|(line, _)| line.style != Style::Dots);
        for ((line, colour), y) in named.zip((50..).step_by(24)) {
            let dash = [(0, y), (20, y)];
            area.draw(&PathElement::new(dash, colour.stroke_width(3)))?;
            let style = ("sans-serif", 14).into_font();
            area.draw(&Text::new(line.name.as_str(), (28, y - 8), style))?;
        }
        Ok(())
    }

    fn coloured(&self) -> impl Iterator<Item = (&Line, RGBColor)> {
        let mut colours = COLOURS.iter().cycle();
        let mut last = BLACK;
        self.lines.iter().map(move |line| {
            match line.style {
                Style::Line => last = *colours.next().expect("they begin again"),
                Style::Bound => last = RGBColor(130, 130, 130),
                Style::Dots => {}
            }
            (line, last)
        })
    }
}

type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;
