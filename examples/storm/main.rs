//! tmp
use simulation::{contention, reference};
fn main() {
    let t = std::time::Instant::now();
    for r in reference::contended() {
        let c = contention::cell(r.strategy, r.clients, 400, 2015);
        let (a, b) = (
            c.calls.errors_from(&r.calls),
            c.millis.errors_from(&r.millis),
        );
        if a.abs() > 2.5 || b.abs() > 2.5 {
            println!(
                "{} {:?} {:.2} {:.2} {}",
                r.clients,
                r.strategy,
                a,
                b,
                if a.abs() > 3. || b.abs() > 3. {
                    "XXX"
                } else {
                    ""
                }
            );
        }
    }
    for n in [50, 100, 150, 190] {
        for s in [
            contention::Strategy::Article,
            contention::Strategy::Decorrelated,
        ] {
            let c = contention::cell(s, n, 400, 2015);
            println!("{n} {s:?} {:.1} {:.1}", c.calls.mean, c.millis.mean);
        }
    }
    println!("{:?}", t.elapsed());
}
