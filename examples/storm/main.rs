//! tmp
use simulation::{fleet::Fleet, manner::Manner, real, server::Trouble, timeline::Timeline};
fn show(name: &str, t: &Timeline, s: f64) {
    println!(
        "{name:20} mean {:.3} peak {:.3} recovery {:?} {s:.1}s",
        t.mean_load_in_trouble(),
        t.peak_load(),
        t.recovery()
    );
    for row in [
        t.load().map(|l| format!("{l:.2}")).collect::<Vec<_>>(),
        t.goodput().map(|l| format!("{l:.2}")).collect::<Vec<_>>(),
    ] {
        println!("   {}", row.join(" "));
    }
}
fn main() {
    for (p, r) in [(100, 200), (1000, 200), (100_000, 20)] {
        for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
            println!("{p} {r} {trouble:?}");
            for m in Manner::ALL {
                let t0 = std::time::Instant::now();
                let t = Fleet {
                    processes: p,
                    rate: r,
                }
                .run(&m, trouble, 30, 1, || ());
                show(m.name, &t, t0.elapsed().as_secs_f64());
            }
            if p == 100 {
                for a in [
                    real::Annotated::None,
                    real::Annotated::Naive,
                    real::Annotated::Backoff,
                    real::Annotated::Defaults,
                ] {
                    let t0 = std::time::Instant::now();
                    let t = real::run(a, 20, trouble, 30, 1);
                    show(&format!("{a:?}"), &t, t0.elapsed().as_secs_f64());
                }
            }
        }
    }
}
