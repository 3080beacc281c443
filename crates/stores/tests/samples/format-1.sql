-- A state file of format 1, as `.dump` of the sqlite3 tool writes it. Kept to be read for ever; never changed.
PRAGMA application_id=1668899182;
PRAGMA user_version=1;
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
  exports_old INTEGER NOT NULL
);
INSERT INTO instances VALUES(1,'shop','operation-1','shop.blueprint.yaml',1700000000,1,1,6,1,6,6,0);
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
INSERT INTO operations VALUES(1,'operation-1',1,1,1,'deploy','ann@host',1700000000,'shop.blueprint.yaml','failed',1700000009,1,1,0,4294967295,4);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  sealed INTEGER NOT NULL,      -- whether something in the body is sealed
  body TEXT NOT NULL
);
INSERT INTO entries VALUES(1099511627777,0,'began',1,'{"id":"operation-1","kind":"deploy","who":"ann@host","began":1700000000,"document":"shop.blueprint.yaml","desired":{"inputs":{"password":{"$sealed":"vta7zV8FVNAqtZR/7aJwSc6FZwWWzxhk4yOikvtDRV2hPYBwFjY9a+P3lvDhovoK","key":"f849d673"}}}}');
INSERT INTO entries VALUES(1099511627778,7,'intent',1,'{"address":"core/everything","op":"delete","deposed":true,"token":"token-1","type":"test/everything","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"HDnqySYk0JWPRbZI2+CFvMvKPfz0Y8RlioRQU6ltGU09TfpsOWvah6CHRQ7uz2X2z7ZY6YPhR3ST0Tg=","key":"f849d673"},"within":["open",{"$sealed":"WG/SXfcsZxhhLwwmBAuskSAxJP1iWGprgPicJdBykiJruNXT99JXa3pNqOKI7LXx","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"dependencies":["plain"]}');
INSERT INTO entries VALUES(1099511627779,8,'intent',1,'{"address":"left[\"open\"]","op":"delete","token":"token-1","type":"test/everything","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"CI79fCPr6G0BRU0Yd0dRggX2f06j/OObVAL4Kcc8Vm2r2BazimrDsf5huX37scRW5vabhJWNKa087O4=","key":"f849d673"},"within":["open",{"$sealed":"ukJpbsb50vHTGEc+OAlfADdgiY4DnstBxT3AA421+8APMBFuFtyyiLdEX/U8IDsc","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"dependencies":["plain"]}');
INSERT INTO entries VALUES(1099511627780,7,'outcome',1,'{"address":"core/everything","record":{"type":"test/everything","status":{"op":"update","word":"failed","undo":true},"id":"id-2","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"FOWcBjAU0E+MNadjTl7aFFGm7stVkZ6WSd/8pn+A16UdRsKBHe6FCqAJvmdPAUM0p3gnbq2lcw+3GB4=","key":"f849d673"},"within":["open",{"$sealed":"qeH53C95CNduHshe9KwP075zB15tmF3YWlUuewUJf3MX0oBES6KC6cGAoqYpQ6g/","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"outputs":{"password":{"$sealed":"Ws4mkTkW7IP3UeTnYPRMJ3FwDypv2vfJ/Fi/w0U0IiDo9SiG6Na8GRk/C6u3/uTi","key":"f849d673"},"size":3},"private":{"$bytes":"b3BhcXVl"},"metadata":{"labels":{"a":"b"}},"dependencies":["plain","core/fns[0]::table","m[\"k\"]"],"retain":true,"protect":true,"deposed":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":{"$sealed":"ao/iTL+Pz5JmNySCTT1z+OBB5qq/1QdjyxZLq+UIZtKeOVzIhpdsygZxKz7XfKgB","key":"f849d673"},"schema_version":0,"origin":{"path":"","start":0,"end":0}},"token":"token-9","attention":"cannot tell","unhealthy":["slow","lonely"],"schema_version":4,"origin":{"path":"shop.blueprint.yaml","start":10,"end":20}},"error":"it said no"}');
INSERT INTO entries VALUES(1099511627781,9,'outcome',0,'{"address":"plain","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":1,"schema_version":0,"origin":{"path":"","start":0,"end":0}}}');
INSERT INTO entries VALUES(1099511627782,0,'finished',1,'{"outcome":"failed","at":1700000009,"generation":1,"exports":{"url":{"$sealed":"1EEhYXg1wWOl7P3rwbKEIVBrF3luksKMJ/ivonfi0KllWuhrnuc4H7T8wJiQehc0","key":"f849d673"},"all":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"fzSTF2I7dxli9N7optpm25AdleD4AGHVyoyDgKAIGVGaj4FgdoD6rYYQSZLgXGXcjfbNq7f4WNwj3OI=","key":"f849d673"},"within":["open",{"$sealed":"03gEfxLFwFTLMVDGbyWhH1oEBsldpEIo/xd8YmYHDApOImbW8Y0XVm4IwBd/cilJ","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"remembered":{"call-1":{"fingerprint":18446744073709551615,"value":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"m33XO5ugewCwGdw4vWww+rTp1mw1ZhlrSSDy4xikEBYTIKGNy04ki4mWPHnMOIuOyGaWpKSDF8U6/+0=","key":"f849d673"},"within":["open",{"$sealed":"Qnwf8DcJPA/KW8lEFpkvMSYyWRsycOOx6tfbtbalcMviFIuQwM8DNCYXpcpjHh5x","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}},"groups":{"values.g":["plain","core/b"]},"metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"hU6vWNjISVCQ3B57YHXYV80j1Dy6JFzBzGX5RMvXHD4kc5tc7hskUbpFGq6jKlK52efaKPqNy+uPszY=","key":"f849d673"},"within":["open",{"$sealed":"uEO1SxhWWmCYjFX26e/wBLzhqi0H9UhmMwhqHikx2dy7JgTl00Q+SJzTTo/sSh6j","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"counts":[1,0,4294967295,4]}');
CREATE TABLE records (
  instance INTEGER NOT NULL REFERENCES instances (id),
  address TEXT NOT NULL,
  position INTEGER NOT NULL,    -- sequence of the outcome that first made it
  entry INTEGER NOT NULL,       -- id of the outcome that it came from
  PRIMARY KEY (instance, address)
) WITHOUT ROWID;
INSERT INTO records VALUES(1,'core/everything',4,1099511627780);
INSERT INTO records VALUES(1,'plain',5,1099511627781);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  who TEXT, since INTEGER, until INTEGER
) WITHOUT ROWID;
INSERT INTO leases VALUES('shop',1,NULL,NULL,NULL);
CREATE UNIQUE INDEX operations_of ON operations (instance, first);
CREATE VIEW resources AS
  SELECT i.name AS instance, r.address,
    e.body ->> '$.record.type' AS type,
    (e.body ->> '$.record.status.op') || ' ' || (e.body ->> '$.record.status.word') AS status,
    e.body ->> '$.record.id' AS id
  FROM records r JOIN instances i ON i.id = r.instance JOIN entries e ON e.id = r.entry
  ORDER BY i.name, r.position;
CREATE VIEW journal AS
  SELECT i.name AS instance, e.id & ((1 << 40) - 1) AS sequence,
    (SELECT o.name FROM operations o WHERE o.instance = i.id AND o.first <= e.id & ((1 << 40) - 1)
     ORDER BY o.first DESC LIMIT 1) AS operation,
    e.step, e.kind, e.body ->> '$.address' AS address, e.body
  FROM entries e JOIN instances i ON i.id = e.id >> 40
  ORDER BY i.name, e.id;
COMMIT;
