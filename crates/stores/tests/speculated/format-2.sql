-- A state file of format 2 with calls that were stated before all of what they are sent was known, as a run that was killed has
-- left it. As `.dump` of the sqlite3 tool writes it. Kept to be read for ever; never changed.
PRAGMA application_id=1668899182;
PRAGMA user_version=2;
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
  digest INTEGER,               -- of which entries its records are
  digest_of INTEGER             -- as of this revision
);
INSERT INTO instances VALUES(1,'chain','894784677d6945b597d2b063aa6eb775','chain.blueprint.yaml',1795466432,2,0,14,1,NULL,NULL,0,2371100305980094642,2);
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
  created INTEGER, updated INTEGER, deleted INTEGER, replaced INTEGER
);
INSERT INTO operations VALUES(1,'894784677d6945b597d2b063aa6eb775',1,1,1,'deploy','ann@vm (process 11613)',1795466432,'chain.blueprint.yaml',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  sealed INTEGER NOT NULL,      -- whether something in the body is sealed
  body TEXT NOT NULL
);
INSERT INTO entries VALUES(1099511627777,0,'began',0,'{"id":"894784677d6945b597d2b063aa6eb775","kind":"deploy","who":"ann@vm (process 11613)","began":1795466432,"document":"chain.blueprint.yaml","desired":{"document":"version: 2023-04-20\nresources:\n  r0: {type: test/data, spec: {input: 0, delayMs: 150}}\n  r1: {type: test/data, spec: {input: ''${resources.r0.spec.id}'', delayMs: 150}}\n  r2: {type: test/data, spec: {input: ''${resources.r1.spec.id}'', delayMs: 150}}\n  r3: {type: test/data, spec: {input: ''${resources.r2.spec.id}'', delayMs: 150}}\n  r4: {type: test/data, spec: {input: ''${resources.r3.spec.id}'', delayMs: 150}}\n  r5: {type: test/data, spec: {input: ''${resources.r4.spec.id}'', delayMs: 150}}\n  r6: {type: test/data, spec: {input: ''${resources.r5.spec.id}'', delayMs: 150}}\n  r7: {type: test/data, spec: {input: ''${resources.r6.spec.id}'', delayMs: 150}}\n  r8: {type: test/data, spec: {input: ''${resources.r7.spec.id}'', delayMs: 150}}\n  r9: {type: test/data, spec: {input: ''${resources.r8.spec.id}'', delayMs: 150}}\n  r10: {type: test/data, spec: {input: ''${resources.r9.spec.id}'', delayMs: 150}}\n  r11: {type: test/data, spec: {input: ''${resources.r10.spec.id}'', delayMs: 150}}\n","typed":{},"text":{},"answers":"{\"now\":1795466432,\"working_directory\":\"/tmp/tmp.dIq4s3BkRw\",\"bytes\":{},\"remembered\":{},\"data_sources\":{},\"calls\":{},\"seen\":{},\"refreshed\":false,\"unread\":{},\"opinions\":{}}"}}');
INSERT INTO entries VALUES(1099511627778,1,'intent',0,'{"address":"r0","op":"create","token":"70388f964bf878008810ad63fa1a6456","type":"test/data","inputs":{"input":0,"delayMs":150}}');
INSERT INTO entries VALUES(1099511627779,2,'intent',0,'{"address":"r1","op":"create","token":"fab8020bfb8873b08afccdebabd06c85","type":"test/data","inputs":{"input":{"$unknown":["r0"]},"delayMs":150},"dependencies":["r0"]}');
INSERT INTO entries VALUES(1099511627780,3,'intent',0,'{"address":"r2","op":"create","token":"716713a9aa3914dc0c7fd4ab416aba9b","type":"test/data","inputs":{"input":{"$unknown":["r1"]},"delayMs":150},"dependencies":["r1"]}');
INSERT INTO entries VALUES(1099511627781,4,'intent',0,'{"address":"r3","op":"create","token":"eff5619b514214bc48ccae6d131e0a65","type":"test/data","inputs":{"input":{"$unknown":["r2"]},"delayMs":150},"dependencies":["r2"]}');
INSERT INTO entries VALUES(1099511627782,5,'intent',0,'{"address":"r4","op":"create","token":"74ddaf7b9fe7529f1087d81c821a263b","type":"test/data","inputs":{"input":{"$unknown":["r3"]},"delayMs":150},"dependencies":["r3"]}');
INSERT INTO entries VALUES(1099511627783,6,'intent',0,'{"address":"r5","op":"create","token":"71ea26d554429a71110df7103104b940","type":"test/data","inputs":{"input":{"$unknown":["r4"]},"delayMs":150},"dependencies":["r4"]}');
INSERT INTO entries VALUES(1099511627784,7,'intent',0,'{"address":"r6","op":"create","token":"80d994e7f1602904da2b3202f13bb829","type":"test/data","inputs":{"input":{"$unknown":["r5"]},"delayMs":150},"dependencies":["r5"]}');
INSERT INTO entries VALUES(1099511627785,8,'intent',0,'{"address":"r7","op":"create","token":"084ca1cd90cefc612f70d88fa390ed62","type":"test/data","inputs":{"input":{"$unknown":["r6"]},"delayMs":150},"dependencies":["r6"]}');
INSERT INTO entries VALUES(1099511627786,9,'intent',0,'{"address":"r8","op":"create","token":"ad1c3c81020c4af61befd871b8b6d8e8","type":"test/data","inputs":{"input":{"$unknown":["r7"]},"delayMs":150},"dependencies":["r7"]}');
INSERT INTO entries VALUES(1099511627787,10,'intent',0,'{"address":"r9","op":"create","token":"5c2cefdafa791d0d8845f6e07e823b3f","type":"test/data","inputs":{"input":{"$unknown":["r8"]},"delayMs":150},"dependencies":["r8"]}');
INSERT INTO entries VALUES(1099511627788,11,'intent',0,'{"address":"r10","op":"create","token":"3189c0bfa0faeed9ea294dda6304a0a2","type":"test/data","inputs":{"input":{"$unknown":["r9"]},"delayMs":150},"dependencies":["r9"]}');
INSERT INTO entries VALUES(1099511627789,12,'intent',0,'{"address":"r11","op":"create","token":"afd0bfb5a2472accfe2ba249e85dd1e7","type":"test/data","inputs":{"input":{"$unknown":["r10"]},"delayMs":150},"dependencies":["r10"]}');
INSERT INTO entries VALUES(1099511627790,1,'outcome',0,'{"address":"r0","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"data-b7c06eee","inputs":{"input":0,"delayMs":150},"outputs":{"input":0,"delayMs":150,"id":"data-b7c06eee"},"schema_version":0,"took":180,"origin":{"path":"chain.blueprint.yaml","start":33,"end":35}}}');
CREATE TABLE records (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence of the outcome that first made it
  address TEXT NOT NULL,
  entry INTEGER NOT NULL        -- id of the outcome that it came from
);
INSERT INTO records VALUES(1099511627790,'r0',1099511627790);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  who TEXT, since INTEGER, until INTEGER
) WITHOUT ROWID;
INSERT INTO leases VALUES('chain',1,'ann@vm (process 11613)',1795466432,1795466492);
CREATE TABLE first_operation (
  name TEXT NOT NULL,
  instance TEXT                 -- for whom it is: who first asked for it
);
INSERT INTO first_operation VALUES('894784677d6945b597d2b063aa6eb775','chain');
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
