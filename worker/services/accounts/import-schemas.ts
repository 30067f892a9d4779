import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";

/** The most accounts in one request: one batch of the database. */
export const MOST_ACCOUNTS = 500;

export const IMPORT_OUTCOMES = ["created", "updated", "unchanged", "rejected"] as const;

// Only bounded here: an entry that isn't a valid account is rejected by itself, and the others are imported.
const ImportedAccount = z.strictObject({
  email: z.string().max(1000).openapi({ example: "vera@fans.example" }),
  name: z.string().max(1000).openapi({ example: "Vera Viewer" }),
});
export type ImportedAccount = z.output<typeof ImportedAccount>;

export const ImportAccounts = z.strictObject({ accounts: z.array(ImportedAccount).min(1).max(MOST_ACCOUNTS) }).openapi("ImportAccounts", {
  example: {
    accounts: [
      { email: "vera@fans.example", name: "Vera Viewer" },
      { email: "ulf@fans.example", name: "Ulf Ultra" },
    ],
  },
});

const Count = z.number().int().min(0);

export const AccountImport = z
  .object({
    created: Count,
    updated: Count,
    unchanged: Count,
    rejected: Count,
    results: z
      .array(
        z.object({
          _id: Id.nullable().describe("The account; null if the entry was rejected"),
          outcome: z.enum(IMPORT_OUTCOMES),
          message: z.string().nullable().describe("Why the entry was rejected"),
        }),
      )
      .describe("One for each entry, in the same order"),
  })
  .openapi("AccountImport");
export type AccountImport = z.output<typeof AccountImport>;
export type ImportResult = AccountImport["results"][number];

export function toAccountImport(results: ImportResult[]) {
  const count = (wanted: ImportResult["outcome"]) => results.filter(({ outcome }) => outcome === wanted).length;
  return {
    created: count("created"),
    updated: count("updated"),
    unchanged: count("unchanged"),
    rejected: count("rejected"),
    results,
  } satisfies AccountImport;
}
