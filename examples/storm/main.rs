//! tmp
use simulation::tables::*;
fn main() {
    println!("{COST_HEAD}");
    for f in FAILING {
        println!("{}", cost_row(f));
    }
    println!("{BROOKER_HEAD}");
    for f in FAILING {
        println!("{}", brooker_row(f));
    }
    println!("{}", rates_head());
    let t = std::time::Instant::now();
    for r in RATES {
        println!("{} {:?}", rates_row(r, &rates(r)), t.elapsed());
    }
}
