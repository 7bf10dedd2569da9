-- One row, which is written to prove that a write works. The number says nothing else.
CREATE TABLE write_proofs (
    id     integer PRIMARY KEY,
    writes bigint NOT NULL
);
