import { expect, test } from "vitest";
import { databasesIn, readConfig, withDatabaseIds } from "./databases.ts";

const NO_ID = "00000000-0000-0000-0000-000000000000";

const TWO = `name = "tifo"
[[d1_databases]]
binding = "DB_2"
database_name = "tifo-2"
database_id = "${NO_ID}"
[[d1_databases]]
binding = "DB"
database_name = "tifo"
# Replaced.
database_id = "${NO_ID}"

[[r2_buckets]]
binding = "MEDIA"
bucket_name = "tifo-media"
`;

test("a config's databases are found, the directory first", () => {
  expect(databasesIn(TWO)).toEqual([
    { binding: "DB", name: "tifo" },
    { binding: "DB_2", name: "tifo-2" },
  ]);
});

test("each database gets its own id, and nothing else changes", () => {
  const ids = new Map([
    ["DB", "aaaa"],
    ["DB_2", "bbbb"],
  ]);
  const [second, first] = [TWO.indexOf(NO_ID), TWO.lastIndexOf(NO_ID)];
  const expected = `${TWO.slice(0, second)}bbbb${TWO.slice(second + NO_ID.length, first)}aaaa${TWO.slice(first + NO_ID.length)}`;
  expect(withDatabaseIds(TWO, ids)).toBe(expected);
});

test("a database that no request would find is an error", () => {
  expect(() => databasesIn(TWO.replace("DB_2", "DB_1"))).toThrow("DB, DB_2, DB_3");
  expect(() => databasesIn(TWO.replace("DB_2", "SECOND"))).toThrow("SECOND");
});

test("the project's own config has one database", () => {
  expect(databasesIn(readConfig())).toEqual([{ binding: "DB", name: "tifo" }]);
});
