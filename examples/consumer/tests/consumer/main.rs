//! The program, and the work of one message.

// This is a file of the program. A test does not use all of it.
#[path = "../../src/bookings.rs"]
mod bookings;
mod deliveries;
mod program;

use integrations::{nats, postgres};

integrations::tests! {
    [postgres::PROGRAM, nats::PROGRAM] =>
        program::each_message_is_booked_once;
    [postgres::PROGRAM] =>
        deliveries::a_message_that_is_delivered_twice_is_booked_once;
    [] =>
        deliveries::a_wrong_message_is_recognised,
        deliveries::work_that_extends_the_time_of_its_message_is_not_delivered_again;
}
