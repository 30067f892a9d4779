import { createArea } from "#worker/http/area.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { IdParam, streamedJson } from "#worker/lib/schemas/common.ts";
import { EXPORTED_AREAS, exportAccount } from "#worker/services/accounts/export.ts";
import { AccountExport } from "#worker/services/accounts/export-schemas.ts";

export const accountExport = createArea();

const otherRoles = EXPORTED_AREAS.filter((area) => area !== "account").map((area) => `\`${area}:read\``);

accountExport.openapi(
  operation({
    operationId: "exportAccount",
    tag: "Accounts",
    method: "get",
    path: "/account/v3/{id}/export",
    summary: "Export everything stored about an account",
    description: `All personal data of the account as one JSON document, a list per kind. Secrets, such as password hashes, and other people's data aren't included. Accounts can export their own data, admins that of any account of the site. A key also needs ${otherRoles.join(", ")}. The site's events of the last 30 days are at \`GET /webhooks/v1/events\`. The document is generated while it is read: if it ends early, request it again.`,
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    limit: { name: "exportAccount" },
    request: { params: IdParam },
    responses: { 200: streamedJson("The account's data", AccountExport) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    return c.body(streamText(await exportAccount(c.get("ctx"), id)), 200, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Disposition": `attachment; filename="account-${id}.json"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);
