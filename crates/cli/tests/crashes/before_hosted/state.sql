-- A state file of the version before hosted providers. Kept to be read for ever; never changed.
PRAGMA application_id=1668899182;
PRAGMA user_version=4;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE instances (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  uid TEXT NOT NULL,
  document TEXT NOT NULL,
  created INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  entries INTEGER NOT NULL,     -- sequence of the last entry
  unsettled INTEGER NOT NULL,   -- before this sequence every call has its outcome
  finished INTEGER,             -- sequence of the last finished entry
  exports INTEGER,              -- sequence of the finished entry whose exports hold
  exports_old INTEGER NOT NULL,
  operations INTEGER NOT NULL,  -- how many there were
  live BLOB NOT NULL,           -- of which entries its records are
  auth TEXT NOT NULL,           -- the id of the key that its rows are authenticated with; empty without one
  mac BLOB NOT NULL,
  pruned INTEGER NOT NULL,            -- sequence of the last entry that was pruned
  pruned_operations INTEGER NOT NULL, -- how many operations were pruned
  documents INTEGER NOT NULL          -- the last number of a document
);
INSERT INTO instances VALUES(1,'shop','1bf01cc520194313a7d29cb49e7b2866','blueprint.yaml',1795697164,4,1,8,9,8,8,0,1,X'db85ed886c3d0e0cf4d2740ea61ed121','',X'e772f17a3289457188f24692dd1135f7',0,0,0);
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,       -- instance << 40 | number
  digest BLOB NOT NULL UNIQUE,  -- of the text
  sealed INTEGER NOT NULL,
  body TEXT NOT NULL,
  mac BLOB NOT NULL
);
CREATE TABLE store (
  id INTEGER PRIMARY KEY,       -- 1
  instances INTEGER NOT NULL,   -- how many there are
  auth TEXT NOT NULL,
  mac BLOB NOT NULL
);
INSERT INTO store VALUES(1,1,'',X'8f4af9a4dea772349fd2ea5236eda869');
CREATE TABLE operations (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  instance INTEGER NOT NULL REFERENCES instances (id),
  first INTEGER NOT NULL,       -- sequence of its first entry
  epoch INTEGER NOT NULL,
  kind TEXT NOT NULL,
  who TEXT NOT NULL,
  began INTEGER NOT NULL,
  document TEXT NOT NULL,
  outcome TEXT,
  ended INTEGER,
  generation INTEGER,
  created INTEGER, updated INTEGER, deleted INTEGER, replaced INTEGER,
  number INTEGER,               -- from 1
  mac BLOB
);
INSERT INTO operations VALUES(1,'1bf01cc520194313a7d29cb49e7b2866',1,1,1,'deploy','tester@vm (process 25077)',1795697164,'blueprint.yaml','ready',1795697164,1,3,0,0,0,1,X'826f6142894208010beccaf8e3e9a60e');
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  sealed INTEGER NOT NULL,      -- whether something in the body is sealed
  body TEXT NOT NULL,
  mac BLOB
);
INSERT INTO entries VALUES(1099511627777,0,'began',0,'{"id":"1bf01cc520194313a7d29cb49e7b2866","kind":"deploy","who":"tester@vm (process 25077)","began":1795697164,"document":"blueprint.yaml","desired":{"document":"version: 2023-04-20\nresources:\n  page: {type: test/data, spec: {input: one}}\n  gone: {type: test/data, spec: {input: gone}}\n  reader: {type: test/data, spec: {input: \"${page.spec.id}\"}}\nexports:\n  page: {type: string, field: page.spec.id}\n","typed":{},"text":{},"answers":"{\"now\":1795697164,\"working_directory\":\"/srv/shop\",\"bytes\":{},\"remembered\":{},\"data_sources\":{},\"calls\":{},\"seen\":{},\"refreshed\":false,\"unread\":{},\"opinions\":{}}"}}',X'486479d1f9f30026008903c35b6cc175');
INSERT INTO entries VALUES(1099511627778,1,'intent',0,'{"address":"page","op":"create","token":"a6117de1f4ef830823cdc70e90b77661","type":"test/data","inputs":{"input":"one"}}',X'd174ccee2b3779a3e0a1d9a4088e24c1');
INSERT INTO entries VALUES(1099511627779,2,'intent',0,'{"address":"gone","op":"create","token":"6edc607f341db0940798fcdcbedb10f8","type":"test/data","inputs":{"input":"gone"}}',X'9a12143a52442e7eb36ceea8a3e65e13');
INSERT INTO entries VALUES(1099511627780,1,'outcome',0,'{"address":"page","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"data-9ea196da","inputs":{"input":"one"},"outputs":{"input":"one","id":"data-9ea196da"},"schema_version":0,"origin":{"path":"blueprint.yaml","start":33,"end":37}}}',X'85ddbc9be3280780e9198c6140dac055');
INSERT INTO entries VALUES(1099511627781,2,'outcome',0,'{"address":"gone","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"data-2d9e52b9","inputs":{"input":"gone"},"outputs":{"input":"gone","id":"data-2d9e52b9"},"schema_version":0,"origin":{"path":"blueprint.yaml","start":79,"end":83}}}',X'e43f510034d10a303e77bebef01545c9');
INSERT INTO entries VALUES(1099511627782,3,'intent',0,'{"address":"reader","op":"create","token":"14eb0f5b9739edbdb99d2a5e9797a04f","type":"test/data","inputs":{"input":"data-9ea196da"},"dependencies":["page"]}',X'b8130c0bf6ada3dd1eea8e716bdbca7c');
INSERT INTO entries VALUES(1099511627783,3,'outcome',0,'{"address":"reader","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"data-f542e116","inputs":{"input":"data-9ea196da"},"outputs":{"input":"data-9ea196da","id":"data-f542e116"},"dependencies":["page"],"schema_version":0,"origin":{"path":"blueprint.yaml","start":126,"end":132}}}',X'00739f18fc703c8b1d3aada51799abde');
INSERT INTO entries VALUES(1099511627784,0,'finished',0,'{"outcome":"ready","at":1795697164,"generation":1,"exports":{"page":"data-9ea196da"},"remembered":{},"groups":{},"metadata":null,"counts":[3,0,0,0]}',X'3794c3b263cd3c4a18aa4029affbcdb7');
CREATE TABLE records (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence of the outcome that first made it
  address TEXT NOT NULL,
  entry INTEGER NOT NULL        -- id of the outcome that it came from
);
INSERT INTO records VALUES(1099511627780,'page',1099511627780);
INSERT INTO records VALUES(1099511627781,'gone',1099511627781);
INSERT INTO records VALUES(1099511627783,'reader',1099511627783);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  who TEXT, since INTEGER, until INTEGER,   -- for people
  boot TEXT, expires INTEGER,               -- when it runs out: milliseconds since that boot
  host TEXT, namespace TEXT, pid INTEGER, started INTEGER,
  auth TEXT, mac BLOB
) WITHOUT ROWID;
INSERT INTO leases VALUES('shop',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',X'6146b1c4406c58d3d63425ee00e5c008');
CREATE UNIQUE INDEX operations_of ON operations (instance, first);
CREATE VIEW journal AS
  SELECT i.name AS instance, e.id & ((1 << 40) - 1) AS sequence,
    (SELECT o.name FROM operations o WHERE o.instance = i.id AND o.first <= e.id & ((1 << 40) - 1)
     ORDER BY o.first DESC LIMIT 1) AS operation,
    e.step, e.kind, e.body ->> '$.address' AS address, e.body
  FROM entries e JOIN instances i ON i.id = e.id >> 40
  ORDER BY i.name, e.id;
CREATE VIEW resources AS
  SELECT i.name AS instance, r.address,
    e.body ->> '$.record.type' AS type,
    (e.body ->> '$.record.status.op') || ' ' || (e.body ->> '$.record.status.word') AS status,
    e.body ->> '$.record.id' AS id
  FROM records r JOIN instances i ON i.id = r.id >> 40 JOIN entries e ON e.id = r.entry
  ORDER BY r.id;
COMMIT;
