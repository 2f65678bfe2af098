//! Twenty functions around each other are too many for rustc, unless the crate raises its limit.

include!("../../data/layers.rs");

layers!(innermost a b c d e f g h i j k l m n o p q r s t);

#[tokio::test]
async fn twenty_functions_compile_if_the_crate_raises_its_limit() {
    const { assert!(size(t) > 0) };
    tokio::spawn(t()).await.unwrap().unwrap();
}
