//! Twenty functions around each other are too many for rustc, unless one of them boxes the future of the next.

use std::pin::Pin;

include!("../data/layers.rs");

layers!(innermost a b c d e f g h i j);

#[retry]
async fn boxes() -> io::Result<()> {
    let inner: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(j());
    inner.await
}

layers!(boxes k l m n o p q r s t);

#[tokio::test]
async fn twenty_functions_compile_if_one_boxes_the_future_of_the_next() {
    const { assert!(size(t) > 0) };
    tokio::spawn(t()).await.unwrap().unwrap();
}
