//! The tables of systems on which the tests do not run. `../tests.rs` has that of Linux.

use super::*;

/// Each number up to the last one of a table has the verdict of its list, and is unknown if it is in no list.
fn assert_table(of: fn(i32) -> Verdict, last: i32, lists: &[(Verdict, &[i32])]) {
    for number in -1..=last + 100 {
        let row = lists.iter().find(|(_, listed)| listed.contains(&number));
        let verdict = row.map_or(Verdict::Unknown, |(verdict, _)| *verdict);
        assert_eq!(of(number), verdict, "{number}");
    }
}

#[test]
fn every_number_of_macos_has_its_verdict() {
    let lists: &[(Verdict, &[i32])] = &[
        (Verdict::Transient, &[41, 58, 59, 67, 68, 91, 98, 101, 106]),
        (
            Verdict::Permanent,
            &[
                15, 44, 45, 73, 75, 76, 79, 80, 81, 85, 86, 87, 88, 90, 93, 103, 104,
            ],
        ),
    ];
    assert_table(of_apple, 106, lists);
}

#[test]
fn every_number_of_windows_has_its_verdict() {
    let lists: &[(Verdict, &[i32])] = &[
        (Verdict::Refused, &[70, 71, 231, 1220, 1225, 1234, 1238]),
        (
            Verdict::Transient,
            &[
                4, 32, 33, 36, 38, 54, 56, 59, 64, 69, 89, 108, 113, 142, 148, 164, 167, 233, 240,
                303, 1222, 1224, 1226, 1229, 1235, 1236, 1237, 1255, 1256, 1450, 10004, 10024,
                10052, 10055, 10058, 10059, 10064, 10067, 10068, 10070, 10091, 10101,
            ],
        ),
        (
            Verdict::Permanent,
            &[
                1, 6, 11, 12, 13, 24, 50, 55, 65, 86, 126, 127, 131, 193, 216, 225, 740, 998, 1168,
                1230, 1233, 1314, 1326, 10009, 10014, 10038, 10039, 10040, 10041, 10042, 10043,
                10044, 10045, 10046, 10047, 10056, 10062, 10063, 10066, 10092, 10093, 10104, 10105,
                10108, 10109,
            ],
        ),
    ];
    assert_table(of_windows, 11_033, lists);
}
