import { createArea } from "#worker/http/area.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { importAccounts } from "#worker/services/accounts/import.ts";
import { AccountImport, ImportAccounts, toAccountImport } from "#worker/services/accounts/import-schemas.ts";

export const accountImport = createArea();

accountImport.openapi(
  operation({
    operationId: "importAccounts",
    tag: "Accounts",
    method: "post",
    path: "/account/v3/import",
    summary: "Create or rename many accounts",
    description:
      "Takes at most 500 accounts. Creates those whose address the site doesn't have, and gives the others the new name; nothing else about them changes, and no email is sent. An invalid entry is rejected by itself, and `results` says why. The accounts of a request are written together, and it is safe to repeat.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    input: { maxBytes: 1024 * 1024 },
    limit: { name: "importAccounts" },
    request: { body: jsonBody(ImportAccounts) },
    responses: { 200: json("What became of each entry", AccountImport) },
    errors: ["conflict"],
  }),
  async (c) => c.json(toAccountImport(await importAccounts(c.get("ctx"), c.req.valid("json").accounts)), 200),
);
