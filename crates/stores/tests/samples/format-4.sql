-- A state file of format 4, as `.dump` of the sqlite3 tool writes it. Kept to be read for ever; never changed.
PRAGMA application_id=1668899182;
PRAGMA user_version=4;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,       -- instance << 40 | number
  digest BLOB NOT NULL UNIQUE,  -- of the text
  sealed INTEGER NOT NULL,
  body TEXT NOT NULL,
  mac BLOB NOT NULL
);
INSERT INTO "documents" VALUES(1099511627777,X'A0730EE5B43B8924B899F516312840C2',0,'version: 2023-04-20
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
# A long document.
',X'C86E782B1A3D816DAE148BBEFBF23C6B');
INSERT INTO "documents" VALUES(1099511627778,X'0A703168783C90B020585509421B76ED',0,'dmVyc2lvbjogMjAyMy0wNC0yMAojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4KIyBBIGxvbmcgZG9jdW1lbnQuCiMgQSBsb25nIGRvY3VtZW50LgojIEEgbG9uZyBkb2N1bWVudC4K',X'23FDFD1AEF2394D88485A2D1B7A8D537');
INSERT INTO "documents" VALUES(1099511627779,X'761DC0216A5D70C38D812B54BCBB0496',1,'{"$sealed":"wtLKt8U4TNpfHtFltHmL4zonMcNIkaf1PpD6GuLFsmw9q4Qvfy4e5JQkoTFN1BXF7GROYSoiTMMqncqMOgEmmx1hEC1Y5RWBBaEDP0Z4oPEgTT/qhhSFjPOCD8XnHIgDh8M+aN7SkjMGX504hvE3h3Wwn6txXFgsqnQ4FM3tAsR4F1iGUSF/s4amB6yl5WZfIWWQh48EkZp3yAbxV3Y8XEiyjqa4o/bxyJUurIo7isQR0upcplrkyGW6ruWB/8kPvYs1dIkvPgVzZnT8NsYGG7o7Fh8rH5eeYMYKmx38swcbVvCvPF33XDheiMx9vBJVrwMGdrI4y02dqT8yz3FYblOv767KBpylf0MvHNtqlwjuAA/RPogR6xR5M3F2vQiKSDkWTrRciTIsuxhqhq1per1SjtEqHUYtMuUJExap/MGpLb3PIwrr+DSwqBBx+aVU71yy89EvWn3UCD5byCrn6SeH6r+TRHCbw9R9V7kxK07O3IOE/EnugMPzMB2UksvOTFSJIRWWvhMnALbMPogYWP6/wlS4zh9IDChbs8mZ4p5QdBdk3KNGORdzf00mbeuElZsEZJhtqXN7808AK8gPAMypbSkxdy3RpjQiSg53uzdO30IFv+3e4FsiwOHuEWGx+l0OgsFIjLU3MnV7em9nxyb+qZ668bcbDs2X3Qv45E1BDCPQePYfOOLSVZ1KwinTyenj57l/2QIcy5BDakW1DQZLtSvOdojgE08qpmWSW8EcbaG+bTAcuUcsCM6sVGEoKjmoKZfYMVQYtLeoAF7VGiFGTZ61CcX0/4RQ3UII/RqLvhiBCDeIYORMxRIGhPMVUSYvPnu+i/Mdy0Y8wdbA4o0xOAOzRJYMn6uhI3mSoAAqL02q8+GyfYXyYiq+t0ijdFDxHaf0CDz5xRGAvBkKkseWny+8oSKOYj3MFh7eUxYUbU5oEQ71gBmOMXm3GBJtiuHtod+M8MvBdusv7C/QWD1bidBWuffynrx5ZBNcMb4N7HE5bq0nzTmJ5XMg5g6vty4zBvApwBYsdS/ksBl2wcX5L/BJpWdOHASisyIsrsMDoUNmuPNEvBRjqFsocOoER80kC8SmGHOPvV47HUrqPo8xwGxtLIeJoyGDWnVz44uNomVHHvW1EydRKGT2Zt0=","key":"f849d673"}',X'72BC441E3BD3BFFB5F920D96A14BAD56');
INSERT INTO "documents" VALUES(1099511627780,X'3B669525C88E9D9623BE2E7A77778592',1,'{"$sealed":"VEb4JLhQWpjfk3XypU1u0LznQ03R2+GNKhH4vLOCvUKmueHwbtJdEiQzB/reBbH9FeI8PFYAg9Zlpk6uptuqw1a+3M5OgNbLDYYq1Ujfe/eBI/SIc5rMNE8ECr/If2AJVI5NDSD6TBK3yvBWj65lJAHXaAoGVMATKQCP9MGqvKas4JTrNHxkdiCqsI3exdKXYStMhN8msq7wggXuTLbdXXn6h/VPhhp59UhpgcHi/bqw1VN8Ym8F+T1asm/OdJ2O0Jm/dPJeSBW9c/Mb6Gj+1DFi7OzIPKQ68mAtPg8QXLsnq5Zr+EF10XrhMMUyMU6ZjoYyxeTxOc0CfbNPkcVdHHgONBG9wzY4DDcFWjv1NEmaw4gYeKerpO3kfbxVTCNgn7zAKOipjuNF9q/JEgMvHDiwgWgdY6hwVk3rF9rBQ7wNwDo0eY+5R1PeXV2w/n+sXzeLeykpCBhBMNLQ/3ES6nsQt2yaA4JuaMOx+L0Eev2B7+5sWcD8AegyNFlOUG2of3Zq432137ZMfeNqaOa3VDzOnmwRR6VJ80N9g83FN7duuQ6RInv0lPEUtQMjR/Z0bzh/ZbnhZvQQV/20ErvmSqeUO14+EduwJroNfA8lzF45uIGNKo+dEvPuM08grYbezNIkk3HHi2oHR1OQj+XW+5+jJHD6fUOmHLpyAeKyBDNU+X6/7ZGgHTBkX9S64UMxyNWnkubQM/UFUwTyHxirtpCy2Tk5tGuFj99pzmC2sso74iclu/h65GW+MkGEHMkAsUiutC3QvoqoyGBtGsYi8kBoHJWKlOJOuSsaDRXjVBqFAdgkj3BWN1BLyscicPPHawzzFtrRxkVIpd3iONiYIiJKG1LBm8vagElT11Bs0XZCu4JtlUKU55XzGif91XsUYZ5KBf74CSePEnELvah+Vr2WJmkeuvtndeGOnDjX0cNBt0NHzxmbC/TZGX76fkqtiMoTPf+nletDuESJHAxPFB9tzjjpvffE+Mr2xvLdkQx69iGB54U3SXJYSr7i3JdRq8EWrxF+F25M9BHbE5HEDnZJufeIO4F0lowXPNid0PPmBNXxCvKJNtkSdU+YuI0SvH3VKlcsy5Mo9lKPXrHyppVNguFTO5G6kTIifUvCHg7Duzh7hYAxZM0XkilULZkyZLDhYWbKz+cCu51FE0eKGlc2Q39mSFHhR8HeE1H5QIAYTYU/LtxxNyt7bScGRpfWm/XFA/WOc+OPBaNhF3rR3gYjeGtxAHkifwl2D9MiGC95VRSKlAaJDAVHVlZeAByBpKH6EWtTvQ5Id/GxrpbKHZby5j9PS/giAJi7WpeZ89wlV71X2lZ767zOsFb7j7QDk3Broi54P803uzOqjsk5QJee3WcHO+M76d/q7FvKmdEsLTTxe3RI7npssqJu8jCg8ymrfTguj/irJtCAfJ9LnO8xWxjjrAxCVcY=","key":"f849d673"}',X'C307D649C8AE12A23259BC158B4C0946');
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  sealed INTEGER NOT NULL,      -- whether something in the body is sealed
  body TEXT NOT NULL,
  mac BLOB
);
INSERT INTO "entries" VALUES(1099511627777,0,'began',1,'{"id":"operation-1","kind":"deploy","who":"ann@host","began":1700000000,"document":"shop.blueprint.yaml","desired":{"inputs":{"password":{"$sealed":"+FvkcbRsFC5dqQgpUGQzhyuLCAuVXwHYHjpinN1MtEzYAbbNnEnQgq8cabt+3vxj","key":"f849d673"}},"plain":{"inputs":{"size":3,"$document":0},"document":{"$document":0},"bytes":{"$bytes":{"$document":1}}},"secret":{"$sealed":"u7h2LX2Jpmm8t60PUU2weGTZ/JcJpuUyzIiMewNTHaarWMZDmJv4So5vapPO4MDwzhNofFyDTzqwwJISnzQ5uC7Q9j//PDA1l4cq6PFVbvBS0QZrQ2vlnjYKdu6APglLvHJjekBeR7XXoqfFHB7+Tql/M8RUdP+VboHB0t6/bVVDXzr06MeEnQs=","key":"f849d673"}},"documents":[1,2,3,4]}',X'8712D962B44ECC8046832F11937FD646');
INSERT INTO "entries" VALUES(1099511627778,7,'intent',1,'{"address":"core/everything","op":"delete","deposed":true,"token":"token-1","type":"test/everything","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"ouDUTAc3Qp5OhEZx9wy2Psk672zNMIkVQqWNbn/O00id6Q/9496R04YZ/2V844ag/CPhNb8Zw5CY0uc=","key":"f849d673"},"within":["open",{"$sealed":"/klBqm3jqbmQmeucUNiD+DAwkI+8sEhAFLVm/4Pz6Z5+IwXxiYtjqjSnW4ePDX6P","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"private":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"xdJEJBelOxt+YdIAeayDdEKRrF2cpGz2FOJ2NVK8OjzJuevgk2qOer7MKYDpqkuWcF9C/ssoMP5DXC0=","key":"f849d673"},"within":["open",{"$sealed":"c1S08WakTRXUB0tuWsTp3N9JVVaJHFU2GC3TqdSQRBsoWX0vDPnQ5EeGzOe/E3Xz","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"folder":"child","dependencies":["plain"]}',X'133F9E5AD1C491E076BDEBB66D31E1CD');
INSERT INTO "entries" VALUES(1099511627779,8,'intent',1,'{"address":"left[\"open\"]","op":"delete","token":"token-1","type":"test/everything","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"YqDKgkjn6L2urES/qTmUu6fgTjGu66d/vXaWk1y3O+Mc60gd2R8q+5xMiWkt/91eZKbap+Z4ue9DYDU=","key":"f849d673"},"within":["open",{"$sealed":"1XYhzFeACeDxS3un5YFiZksPRE6n/oN7nxDyYCa/LtHcT50PQ/8dlFL/Z0hLByy/","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"private":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"KAtX1em8EhdgFxiYTPP3LXZsQ1SQX0gU1mvDqnYBB7jsnz8n2M2rnKcNA9mwAHUlEPdPx0N8MskWPy8=","key":"f849d673"},"within":["open",{"$sealed":"fHGAktSkGGx4lJvvamRez/y18LKdplIxLpwqYjDupRA2oIrCwZm56gKM0QevHDwf","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"folder":"child","dependencies":["plain"]}',X'F1D92499B7569E29E139F50766831207');
INSERT INTO "entries" VALUES(1099511627780,7,'outcome',1,'{"address":"core/everything","record":{"type":"test/everything","status":{"op":"update","word":"failed","undo":true},"id":"id-2","inputs":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"kAy/ODnXj4l873CE5I8mHvScztGK7TV6oaGEpn1fxf1wWlMg8bLCb7Pz4N4q8JjgDy8+aTiMeqBsB90=","key":"f849d673"},"within":["open",{"$sealed":"jKwu5dKYyZAqf2Pk5RMnV+2XKFJMnvfkOpIxhuGLpVJ1AkZnjUGFKLwdsk09rHA6","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"outputs":{"password":{"$sealed":"X68239RKL11FxEYkCm3bRGFF1AGwXhI1GKhvoQROVi6et3PdRj7ZaThnU+4vmYBW","key":"f849d673"},"size":3},"private":{"$bytes":"b3BhcXVl"},"metadata":{"labels":{"a":"b"}},"dependencies":["plain","core/fns[0]::table","m[\"k\"]"],"retain":true,"protect":true,"deposed":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":{"$sealed":"ZgkkBXdJiHnEOgeumxLBExp5m6UhhL8Y4S44eSgQlsWkUiXeAKqcCwQ1bLUulfoA","key":"f849d673"},"schema_version":0,"origin":{"path":"","start":0,"end":0}},"token":"token-9","attempt":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":{"$sealed":"+4pIkXmyNaLIA+aUFZMzlJRseoI54dLgtQsdmBXsLf9zgUU8WHP0EYgxl/KiyzbZ","key":"f849d673"},"token":"token-8","schema_version":0,"origin":{"path":"","start":0,"end":0}},"attention":"cannot tell","unhealthy":["slow","lonely"],"schema_version":4,"took":1200,"origin":{"path":"shop.blueprint.yaml","start":10,"end":20,"made_from":"core/shop","folder":"child"}},"error":"it said no"}',X'45D646A083A1E6F5AEB760C1E11984FD');
INSERT INTO "entries" VALUES(1099511627781,9,'outcome',0,'{"address":"plain","record":{"type":"test/data","status":{"op":"create","word":"ready"},"id":"id-1","inputs":1,"schema_version":0,"origin":{"path":"","start":0,"end":0}}}',X'090D667E7BB131BF68DE7581632DAC2D');
INSERT INTO "entries" VALUES(1099511627782,0,'finished',1,'{"outcome":"failed","at":1700000009,"generation":1,"exports":{"url":{"$sealed":"BO7X2OAsoe7CLoOH6u+XZ/nYNRW35WFpdHpnH1bMIqhqSL712lFvRxc8sHA7FMRD","key":"f849d673"},"all":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"nwdO0rH/Yqc8gfnrP5Mg29hjnr2DO/FnuY4PquRCeKw6c/+6HQ6b4l+GsBSPPh/vYe8uFUcAOHoqEWo=","key":"f849d673"},"within":["open",{"$sealed":"zcYzS9+RrNhtSPw57oiK42rcDMYF98KyB8cOHSjjMFIyY+LyxBEHMcVNglfdni2d","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"remembered":{"call-1":{"fingerprint":18446744073709551615,"value":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"cNosVctep1LSNMdYlYdjcD00uPmZSv1SFoiXMK9gSgoXLU+YZkRnlaSq8Yg75oz0AWbeSTnHmihJok8=","key":"f849d673"},"within":["open",{"$sealed":"GpSWAJn9fr+jIzVnKfnjO4+V/CVXlKMrFSG4GNvVuK2nI1wrDmr3Qi2OMG3LTuOv","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}},"groups":{"values.g":["plain","core/b"]},"metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"NKiXLOp4SmMTjVD5ZG0d9Agp4voH89Cip6Vc4NeQu7kdzG1d7/UgtsKnJOnb9aKBOILRa/aKo+pLtgY=","key":"f849d673"},"within":["open",{"$sealed":"g9d/VLGtDnQ1j/M8R53YyvM1cLP2XECISZGAU1BjBDW8uRotqt6jltctW599zJDB","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},"declared":{"children":{"core":{"exports":{"key":{"$sealed":"56T+fRBZIWIHXRTX97Fm6SmNgCUjooLf+Lqxyxgl7sCNc15A9iSZQDTSCa7Wrh6K","key":"f849d673"},"all":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"Alh7Q83+vuuUmDk88hiG9uKw+XjO6UQpJEIaJ8KauxzFHEgrT/PEfNpE+sWkbWKipJPcfLFoERMqJdc=","key":"f849d673"},"within":["open",{"$sealed":"Ujt5C9eZwa6lE31uX0HmTRliBu0XauexWvF0rrAxV7vYnhBX60TSF6QiCtoPaFJO","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"JPdJeB2GykGhRYAc4MvpFnXqPz6KT77uX/9lRPdvgKHjZpVd9fwANgTiUn7cvIFdkDe5ovuKiG6z66A=","key":"f849d673"},"within":["open",{"$sealed":"nh9RssB3CyC+Xj8gnEwzU28t9Q4CfoS2VnSQt8P6Fe/oCz3yC+Dy93O9qLaDditt","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},"core/inner":{}},"data_sources":{"core/net":{"type":"test/network","metadata":{"null":null,"true":true,"least":-9223372036854775808,"float":0.30000000000000004,"whole":3.0,"huge":1.7976931348623157e+308,"decimal":{"$decimal":"18446744073709551616.5"},"text":"line\n\"quoted\" \u0000 🦀","bytes":{"$bytes":"AP8H"},"list":[1,[]],"set":{"$set":["b","a"]},"map":{"z":1,"a":2},"marks":{"$map":{"$secret":"no secret","$sealed":null}},"asset":{"$asset":{"archive":{"x":{"text":"t"}}}},"resource":{"$resource":"r[\"k\\\"\"]"},"secret":{"$sealed":"xCMckaWC6nu8u1tcyq0euriyE9RlkpKqOTIyhn2tLOGIGb76axIDujP4LefTkxowaR7INsbcGBjhdQI=","key":"f849d673"},"within":["open",{"$sealed":"iPUOkIT7EEL1YGfmJ6Xyz4Zti2i2gcuxYUyYCHDkWUimr1sectSYi/MNU8Aj0uZU","key":"f849d673"}],"$odd":"a key with a mark","":"an empty key","deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}}},"stops":{"core/":{"breakpoints":["pre-delete","post-create"],"action":"create","waiting":"post-create","uses":["plain"]},"plain":{"breakpoints":["pre-delete","post-create"]}},"counts":[1,0,4294967295,4]}',X'E24B708EBB6F16EFA2080043A7107231');
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
INSERT INTO "instances" VALUES(1,'shop','operation-1','shop.blueprint.yaml',1700000000,1,1,6,1,6,6,0,1,X'139418DBAA756A0C5A57FEDE5D6A018E','f849d673',X'A073A456AAE148D4FC97BF2BB419B8E3',0,0,4);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  who TEXT, since INTEGER, until INTEGER,   -- for people
  boot TEXT, expires INTEGER,               -- when it runs out: milliseconds since that boot
  host TEXT, namespace TEXT, pid INTEGER, started INTEGER,
  auth TEXT, mac BLOB
) WITHOUT ROWID;
INSERT INTO "leases" VALUES('shop',1,'ann@host (1)',1700000100,1700000160,'test',1700000160000,NULL,NULL,NULL,NULL,'f849d673',X'7B2C1618765F928C0241A6C93C52BEF5');
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
INSERT INTO "operations" VALUES(1,'operation-1',1,1,1,'deploy','ann@host',1700000000,'shop.blueprint.yaml','failed',1700000009,1,1,0,4294967295,4,1,X'D134CEBD7A279DA686FF3EB9E50DCF3E');
CREATE TABLE records (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence of the outcome that first made it
  address TEXT NOT NULL,
  entry INTEGER NOT NULL        -- id of the outcome that it came from
);
INSERT INTO "records" VALUES(1099511627780,'core/everything',1099511627780);
INSERT INTO "records" VALUES(1099511627781,'plain',1099511627781);
CREATE TABLE store (
  id INTEGER PRIMARY KEY,       -- 1
  instances INTEGER NOT NULL,   -- how many there are
  auth TEXT NOT NULL,
  mac BLOB NOT NULL
);
INSERT INTO "store" VALUES(1,1,'f849d673',X'178F361E632D6F6CE6D67F743384DDB9');
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
