//! Each adapter against the real thing. A package of its own, so that the facade's tests and examples
//! are built without the clients and servers that these need.
