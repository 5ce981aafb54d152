-- The first layout. `reactor` and `node` columns hold ids of this file, never names.

-- "PROS": marks the file as ours.
PRAGMA application_id = 1347571539;

CREATE TABLE reactors (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    wave     INTEGER NOT NULL,
    epoch    INTEGER NOT NULL,
    receipts INTEGER NOT NULL,
    head     BLOB    NOT NULL,
    state    BLOB    NOT NULL
) STRICT;

CREATE TABLE epochs (
    reactor INTEGER NOT NULL REFERENCES reactors,
    number  INTEGER NOT NULL,
    bundle  BLOB    NOT NULL,
    PRIMARY KEY (reactor, number)
) STRICT;

-- A node without state is a name that receipts or events refer to: retired, or never mounted.
-- `seq` is the number of its newest receipt. The state comes last, since it may be long.
CREATE TABLE nodes (
    id       INTEGER PRIMARY KEY,
    reactor  INTEGER NOT NULL REFERENCES reactors,
    name     TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    deadline INTEGER,
    state    BLOB,
    UNIQUE (reactor, name)
) STRICT;

CREATE INDEX nodes_by_deadline ON nodes (deadline) WHERE deadline IS NOT NULL;

-- id = reactor * 2^40 + position, so that a ledger is one range of the table and grows at its end.
CREATE TABLE receipts (
    id      INTEGER PRIMARY KEY,
    node    INTEGER NOT NULL REFERENCES nodes,
    seq     INTEGER NOT NULL,
    status  TEXT    NOT NULL,
    address BLOB    NOT NULL,
    bytes   BLOB    NOT NULL
) STRICT;

-- The entries of one node lie in the order of ids, that is, of positions.
CREATE INDEX receipts_by_node ON receipts (node);

-- Addresses are random: in one large index every insert would touch a page of its own, and a commit
-- would cost more the longer the ledger is. So the index is cut into generations of a few thousand
-- rows. Inserts touch the newest only; a lookup, which is rare, visits them one after the other.
-- Four bytes are enough to find a row; the row itself has the whole address.
CREATE INDEX receipts_by_address ON receipts (id >> 11, substr(address, 1, 4));

-- Trees and blobs of all reactors. An address may be stored more than once, in distant generations.
CREATE TABLE contents (
    id      INTEGER PRIMARY KEY,
    address BLOB NOT NULL,
    bytes   BLOB NOT NULL
) STRICT;

CREATE INDEX contents_by_address ON contents (id >> 12, substr(address, 1, 4));

-- Keys are kept in their own order and not hashed: most sources count upwards, so that keys which
-- arrive together lie together.
CREATE TABLE deliveries (
    reactor INTEGER NOT NULL REFERENCES reactors,
    key     BLOB    NOT NULL,
    outcome BLOB    NOT NULL,
    PRIMARY KEY (reactor, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    node    INTEGER NOT NULL REFERENCES nodes,
    ordinal INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    bytes   BLOB    NOT NULL,
    UNIQUE (node, ordinal)
) STRICT;

-- AUTOINCREMENT: an id is never given twice, even after the table was empty.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL,
    subject    TEXT NOT NULL,
    payload    BLOB NOT NULL
) STRICT;
