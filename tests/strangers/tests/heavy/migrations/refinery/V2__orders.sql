CREATE TABLE orders (id bigint PRIMARY KEY);
SELECT pg_sleep(1);
