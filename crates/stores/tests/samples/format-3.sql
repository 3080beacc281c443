-- A state file of format 3, as `.dump` of the sqlite3 tool writes it. Kept to be read for ever; never changed.
PRAGMA application_id=1668899182;
PRAGMA user_version=3;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  sealed INTEGER NOT NULL,      -- whether something in the body is sealed
  body TEXT NOT NULL
, mac BLOB);
INSERT INTO "entries" VALUES(1099511627777,0,'began',1,'{"id":"operation-1","kind":"deploy","who":"ann@host","began":1700000000,"document":"shop.blueprint.yaml","desired":{"inputs":{"password":{"$sealed":"LG+eWtUWlIsRDIvLnherB8d7CYpjWdMA5cqs9QSCuJ4bjHDWQlUlWuK5RygHsuhx","key":"f849d673"}}}}',X'17DF129F0B9732BC2C600DB3D40F4548');
INSERT INTO "entries" VALUES(1099511627778,7,'intent',1,'{"address":"core/everything","op":"delete","deposed":true,"token":"token-1","type":"test/everything","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"xmEoqu9AU+jfm84o0iusOKUf/StaizesbPyiJcDOzMKIHh00CeTuC7ZUq4B66xSAmTwcTSoDr62A9bk=","key":"f849d673"},"within":["open",{"$sealed":"UYelegzbwLjjun/haPv25Hg6Hexrn/c6vY+SsigMhKzLjNjKTPH6m79g9Fz00+6w","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"dependencies":["plain"]}',X'E79A4664CECCD788BE1A967A9B12F304');
INSERT INTO "entries" VALUES(1099511627779,8,'intent',1,'{"address":"left[\"open\"]","op":"delete","token":"token-1","type":"test/everything","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"cmpAHohDQruw2WW68gWgv7012nxnrcq4NS8XpC0kLNhpx70gxtWWoAX4svcTYMShxS37IUFKzizmpWA=","key":"f849d673"},"within":["open",{"$sealed":"ldaqfG3a3NzHlFp7YLEmpM66yLV/vc6LnLW/aplIMwVfnGXiU2y87GL/6rSaxKIj","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"dependencies":["plain"]}',X'82928B63C6C40F714DCA280A50EFED8B');
INSERT INTO "entries" VALUES(1099511627780,7,'outcome',1,'{"address":"core/everything","record":{"type":"test/everything","status":{"op":"update","word":"failed","undo":true},"id":"id-2","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"PhqcHooAQO/+GMxyGaNbZrHq6aEW8Y8Os2Lx94pRfsh14XOvfgdVUXqVxpd4tE/Wtj61px9xO3e95Sw=","key":"f849d673"},"within":["open",{"$sealed":"NxXzyoeeKGWLv0yhKnWv+8ihtThCbbvqL6fp89/Ikyqip+E2DI9tVp7e5RdzGcYI","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"outputs":{"password":{"$sealed":"8RYyq/VN8Q9TvrCBXP6cQ34SDKLFKTrRTK6TX4OQDmvFDL+gpWCjJCRwOtU+YzuX","key":"f849d673"},"size":3},"private":{"$bytes":"b3BhcXVl"},"metadata":{"labels":{"a":"b"}},"dependencies":["plain","core/fns[0]::table","m[\"k\"]"],"retain":true,"protect":true,"deposed":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":{"$sealed":"x31gVZm8Uq5XpmWzMdZ1PsyJ4MrcH9lIEL9CiR0Vh0cPzbeJGx7b9gmq9JlHST8T","key":"f849d673"},"schema_version":0,"origin":{"path":"","start":0,"end":0}},"token":"token-9","attention":"cannot tell","unhealthy":["slow","lonely"],"schema_version":4,"origin":{"path":"shop.blueprint.yaml","start":10,"end":20,"made_from":"core/shop"}},"error":"it said no"}',X'56030CCE84154EE78020D056B03118C1');
INSERT INTO "entries" VALUES(1099511627781,9,'outcome',0,'{"address":"plain","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":1,"schema_version":0,"origin":{"path":"","start":0,"end":0}}}',X'090D667E7BB131BF68DE7581632DAC2D');
INSERT INTO "entries" VALUES(1099511627782,0,'finished',1,'{"outcome":"failed","at":1700000009,"generation":1,"exports":{"url":{"$sealed":"/iMLRy872CzmFCLzaC9ZiHpJxmRlOO9C0bmhmt1LFK/GL8ZnY0N2MbakBRO9xPga","key":"f849d673"},"all":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"p2avdeAJhEqoTF53RIVn4LOJ9pQ/T6sB3C59KS6qCi7kPgC0xlGsBvAmzDsFhTl9/7uo9858ALmAo28=","key":"f849d673"},"within":["open",{"$sealed":"xtOSPdOSgVPEf+t+IsOcd8eMh1tV0lR1EYWL6Uv3eNZyhqphqb2aJm9ZdXAWh4cm","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"remembered":{"call-1":{"fingerprint":18446744073709551615,"value":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"zLTehHTKEAh37e+shmQblPo7nvkVUXHaJRU1wwPRScOw4vsShHdL6sOH7TlFQh0LPnXnlIabThUNnME=","key":"f849d673"},"within":["open",{"$sealed":"RGoX/dvHTuh+AUIoYwBG2lFuhFTzzWy+9+xI01l+uvketjtntoCXd7Dv1oqoyyvE","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}},"groups":{"values.g":["plain","core/b"]},"metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"DnsucivTwWCv5cBKXDCxncRwiZvGc9YmgVBbwfs9dL804MSbGq4OVCX5mVr9fVxZ08uyS1iw/ne1i08=","key":"f849d673"},"within":["open",{"$sealed":"i7P/jGlN6BhgLVAeIWdO5m0G5/xf4yeolyFUq6Fqb8EfuPvuQnvTxNTRz61D5gXy","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"declared":{"children":{"core":{"exports":{"key":{"$sealed":"IkRYqPnHRren2CEpdCOEFpV8QhNfDcnCm8IqZkdozMqXlbOvP1O7z5ZsiQAQErn4","key":"f849d673"},"all":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"UHjifu7kfMzAe6e+WBSJvHJ5TJ8EwXIO/y38l/8MVj16sUewF2s+Z2gOSvfmOLhBmdYHKlz7N11XgZE=","key":"f849d673"},"within":["open",{"$sealed":"ubvhJ5osrKF6EfkHfHmi89RpUa8SK4M6SwecYMlBipnee6MrxdJCRw2bgjqPUCok","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"LY1NgxMxitrJO+v7z1TPHCSHhyZJiFmMGN5ZUKjz1acsq3b4fOhdo5lsw+w/gauIE2N/2Fa61ayh3kg=","key":"f849d673"},"within":["open",{"$sealed":"oeE/Lj5FQrqNCp1kGj8TLr4aUxDxJ42O+GRyNZafdtJ2CRGuLUmtaIbFdYtXUQdq","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"core/inner":{}},"data_sources":{"core/net":{"type":"test/network","metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"83/mRNhc/vhdmUpZkssFQb3eXbkah8Iq1CUMpv3dtrtl72sv4YQB8LkpMXI64II0WhIbGa1Kyd7TMvQ=","key":"f849d673"},"within":["open",{"$sealed":"0WwFnfHkXGbD/1CAr8mvdiZ17LsQ9enzgWGHjvZ/3MIFAULEchYDW8ftRz9/DJHw","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}}},"counts":[1,0,4294967295,4]}',X'2CB51740DC2FBDEA1EFEF91179F9B700');
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
, operations INTEGER NOT NULL DEFAULT 0, live BLOB NOT NULL DEFAULT x'', auth TEXT NOT NULL DEFAULT '', mac BLOB NOT NULL DEFAULT x'');
INSERT INTO "instances" VALUES(1,'shop','operation-1','shop.blueprint.yaml',1700000000,1,1,6,1,6,6,0,1,X'139418DBAA756A0C5A57FEDE5D6A018E','f849d673',X'2041773B2D793EFBA319B54DE2378F78');
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  who TEXT, since INTEGER, until INTEGER
, boot TEXT, expires INTEGER, host TEXT, namespace TEXT, pid INTEGER, started INTEGER, auth TEXT, mac BLOB) WITHOUT ROWID;
INSERT INTO "leases" VALUES('shop',2,'ann@host (1)',1700000100,1700000160,'test',1700000160000,NULL,NULL,NULL,NULL,'f849d673',X'B3CC4F97A28E327DDE2EA805F0F5300D');
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
, number INTEGER, mac BLOB);
INSERT INTO "operations" VALUES(1,'operation-1',1,1,1,'deploy','ann@host',1700000000,'shop.blueprint.yaml','failed',1700000009,1,1,0,4294967295,4,1,X'D134CEBD7A279DA686FF3EB9E50DCF3E');
CREATE TABLE records (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence of the outcome that first made it
  address TEXT NOT NULL,
  entry INTEGER NOT NULL        -- id of the outcome that it came from
);
INSERT INTO "records" VALUES(1099511627780,'core/everything',1099511627780);
INSERT INTO "records" VALUES(1099511627781,'plain',1099511627781);
CREATE TABLE store (
  id INTEGER PRIMARY KEY,
  instances INTEGER NOT NULL,
  auth TEXT NOT NULL,
  mac BLOB NOT NULL
);
INSERT INTO "store" VALUES(1,1,'f849d673',X'B60183C9B11C643FD30496C26B2E801D');
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
