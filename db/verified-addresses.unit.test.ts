import { join } from "node:path";
import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "migrations");

/** A database of the first release, and a function that migrates it. */
function firstRelease(): { db: DatabaseSync; migrate: () => void } {
  const db = new DatabaseSync(":memory:");
  const [first = "", ...others] = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const run = (name: string): void => db.exec(readFileSync(join(FOLDER, name), "utf8"));
  run(first);
  return { db, migrate: () => others.forEach(run) };
}

function insert(db: DatabaseSync, table: string, row: Record<string, string | number | null>): void {
  const names = Object.keys(row);
  const marks = names.map(() => "?").join(", ");
  db.prepare(`insert into ${table} (${names.join(", ")}) values (${marks})`).run(...Object.values(row));
}

const stamps = { created: 1, modified: 1 };

function insertAccount(db: DatabaseSync, row: { id: string; site_id: string; email: string; [column: string]: string | null }): void {
  const rest = { name: "n", normalized_name: "n", email_hash: "h", roles: "[]", tags: "[]", third_party_auth_providers: "[]" };
  insert(db, "accounts", { password_hash: "set", ...rest, marketing_optin: 0, ...stamps, ...row });
}

function insertInvite(db: DatabaseSync, row: { id: string; site_id: string; email: string; account_id: string }): void {
  const rest = { sender_account_id: "admin", target_roles: "[]", redirect_uri: "https://demo.example/", expires: 9, sent: 1, by_sender: 1 };
  insert(db, "register_invites", { ...rest, created: 1, modified: 77, ...row });
}

function insertGlobal(db: DatabaseSync, id: string, email: string, passwordVersion: number): void {
  insert(db, "global_accounts", { id, email, password_hash: "set", password_version: passwordVersion, ...stamps });
}

test("the migration to verified addresses trusts accounts that accepted an invitation or have no password", () => {
  const { db, migrate } = firstRelease();
  for (const id of ["invited", "moved", "signed-up"]) insertAccount(db, { id, site_id: "one", email: `${id}@people.example` });
  insertAccount(db, { id: "linked", site_id: "one", email: "linked@people.example", password_hash: null });
  insertInvite(db, { id: "i1", site_id: "one", email: "invited@people.example", account_id: "invited" });
  insertInvite(db, { id: "i2", site_id: "one", email: "before@people.example", account_id: "moved" });
  migrate();
  const rows = db.prepare("select id, email_verified as verified, trusted from accounts order by id").all();
  expect(rows.map(({ id, verified, trusted }) => [id, verified, trusted])).toEqual([
    ["invited", 77, 1],
    ["linked", null, 1],
    ["moved", null, 0],
    ["signed-up", null, 0],
  ]);
});

test("the migration to verified addresses keeps a global account whose owner has reset it, linked only to verified accounts", () => {
  const { db, migrate } = firstRelease();
  insertGlobal(db, "implicit", "gil@people.example", 1);
  insertGlobal(db, "reset", "olga@people.example", 2);
  insertAccount(db, { id: "gil", site_id: "one", email: "gil@people.example", global_account_id: "implicit" });
  insertAccount(db, { id: "olga", site_id: "one", email: "olga@people.example", global_account_id: "reset" });
  insertAccount(db, { id: "squat", site_id: "two", email: "olga@people.example", global_account_id: "reset" });
  insertInvite(db, { id: "i1", site_id: "one", email: "olga@people.example", account_id: "olga" });
  const session = { audience: "global", generation: 1, created: 1, expires: 9 };
  for (const id of ["implicit", "reset"]) insert(db, "sessions", { id: `of-${id}`, account_id: id, ...session });
  migrate();
  const column = (sql: string): unknown[] => db.prepare(sql).all().flatMap(Object.values);
  expect(column("select id from accounts where global_account_id is not null")).toEqual(["olga"]);
  expect(column("select id from global_accounts")).toEqual(["reset"]);
  expect(column("select id from sessions")).toEqual(["of-reset"]);
});
