import { getTableName } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { expect, test } from "vitest";
import { tables } from "#test/tables.ts";
import { KEY_AREAS } from "#worker/services/sites/api-key-schemas.ts";
import { PERSONAL_DATA } from "./export.ts";

/** Tables that refer to accounts but aren't exported, and why. */
const EXCLUDED: Record<string, string> = {
  api_keys: "who created a key is a fact about the site's key",
  connected_accounts: "Stripe accounts of sites, not people",
  data_providers: "the address of the provider's owner is the site's contact",
  email_proofs: "links of the last day, whose tokens are secret",
  global_accounts: "another controller's data: the person's own global account has its own operations",
  intents: "sign-ins that are being carried out, whose tokens are secret",
  mail_senders: "the site's own addresses",
  member_exports: "what staff exported, deleted after a day",
  password_resets: "links of the last day, whose tokens are secret",
  recovery_codes: "hashes of secrets",
  totp_secrets: "a secret",
  tv_codes: "sign-ins of a TV within the last hour, whose tokens are secret",
};

/** Names of columns that identify a person. */
const PERSONAL = /(^|_)account_id$|^viewer$|^owner_id$|email$/;

const covered = new Set(PERSONAL_DATA.flatMap((data) => data.tables.map((table) => getTableName(table))));

test("the export of an account covers every table with an account's id, or a reason says why not", () => {
  const personal = tables
    .filter((table) => getTableConfig(table).columns.some(({ name }) => PERSONAL.test(name)))
    .map((table) => getTableName(table));
  expect(personal).toContain("chat_bans");
  expect(personal.filter((name) => !covered.has(name) && EXCLUDED[name] === undefined)).toEqual([]);
  expect(Object.keys(EXCLUDED).filter((name) => covered.has(name) || !tables.some((table) => getTableName(table) === name))).toEqual([]);
});

test("no list of the export contains a secret, and each names an area that keys can have", () => {
  const names = PERSONAL_DATA.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(PERSONAL_DATA.filter(({ area }) => !KEY_AREAS.includes(area)).map(({ name }) => name)).toEqual([]);
});
