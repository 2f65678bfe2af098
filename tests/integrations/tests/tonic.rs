//! gRPC against a real server in this process, over loopback.

#[path = "tonic"]
mod v0_14 {
    use {tonic as client, tonic_health as health};

    mod version;
}

#[path = "tonic"]
mod v0_13 {
    use {tonic_0_13 as client, tonic_health_0_13 as health};

    mod version;
}
