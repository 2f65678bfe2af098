CREATE TABLE items (id bigint PRIMARY KEY);
