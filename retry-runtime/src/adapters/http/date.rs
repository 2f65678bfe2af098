//! Dates as RFC 9110, 5.6.7, wants recipients to read them.

use std::time::{Duration, SystemTime};

/// Reads a date in one of the three forms of HTTP, or as a mail has it (RFC 5322): with any weekday or none, days of one
/// digit, and a zone as a number. `now` decides the century of a year of two digits.
pub(super) fn parse(text: &str, now: SystemTime) -> Option<SystemTime> {
    let words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let mut words: Vec<&str> = words.collect();
    // Senders get it wrong, and the date says the same.
    let first = words.first()?;
    if WEEKDAYS.iter().any(|day| first.starts_with(day)) {
        words.remove(0);
    }
    match *words.as_slice() {
        // `Nov  6 08:49:37 1994`, which is UTC.
        [month, day, time, year] => at(day, month, year, time, now),
        // `06-Nov-94 08:49:37 GMT`
        [date, time, zone] => {
            let mut fields = date.splitn(3, '-');
            let (day, month, year) = (fields.next()?, fields.next()?, fields.next()?);
            to_utc(at(day, month, year, time, now)?, zone)
        }
        // `06 Nov 1994 08:49:37 GMT`
        [day, month, year, time, zone] => to_utc(at(day, month, year, time, now)?, zone),
        _ => None,
    }
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn at(day: &str, month: &str, year: &str, time: &str, now: SystemTime) -> Option<SystemTime> {
    if year.len() != 2 {
        return exactly(day, month, year, time);
    }
    // RFC 9110: more than 50 years in the future is "the most recent year in the past that had the same last two digits".
    let far = now + Duration::from_secs(50 * 366 * 86_400);
    let coming = exactly(day, month, &format!("20{year}"), time);
    coming
        .filter(|coming| *coming <= far)
        .or_else(|| exactly(day, month, &format!("19{year}"), time))
}

/// `httpdate` refuses all weekdays but one.
fn exactly(day: &str, month: &str, year: &str, time: &str) -> Option<SystemTime> {
    let seconds = if time.len() == 5 { ":00" } else { "" };
    WEEKDAYS.iter().find_map(|weekday| {
        let date = format!("{weekday}, {day:0>2} {month} {year} {time}{seconds} GMT");
        httpdate::parse_http_date(&date).ok()
    })
}

fn to_utc(local: SystemTime, zone: &str) -> Option<SystemTime> {
    if ["GMT", "UTC", "UT", "Z"].contains(&zone) {
        return Some(local);
    }
    let is_offset = zone.len() == 5 && zone.starts_with(['+', '-']);
    let number: i64 = zone.parse().ok().filter(|_| is_offset)?;
    let (hours, minutes) = (number.unsigned_abs() / 100, number.unsigned_abs() % 100);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset = Duration::from_secs(hours * 3_600 + minutes * 60);
    if number < 0 {
        local.checked_add(offset)
    } else {
        local.checked_sub(offset)
    }
}
