import { createArea } from "#worker/http/area.ts";
import { bodyStream } from "#worker/http/body.ts";
import { CLIENT_SUPER, DEVELOPER_OR_SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { addTags, addTagsInBulk, setTags } from "#worker/services/accounts/tags.ts";
import { Account, BulkTags, BulkTagsAnswer, BulkTagsIssues, TagsInput, toAccount } from "#worker/services/accounts/schemas.ts";
import { tagAccount } from "./tag-account.ts";

export const accountTags = createArea();
const tag = "Accounts";

const changes = [
  {
    operationId: "setAccountTags",
    method: "put",
    path: "/account/v3/update-tags/{id}",
    summary: "Replace an account's tags",
    description: "Broadcasts can target accounts by tag. The operator may omit the client id.",
    change: setTags,
    retries: { commutes: false },
  },
  {
    operationId: "addAccountTags",
    method: "post",
    path: "/account/v3/add-tags/{id}",
    summary: "Add tags to an account",
    description: "Adds to the account's tags, at most 200 in total. The operator may omit the client id.",
    change: addTags,
    retries: { commutes: true },
  },
] as const;

for (const { change, ...spec } of changes) {
  accountTags.openapi(
    operation({
      ...spec,
      tag,
      // If the operator sends a client id, it must exist, and the account must belong to that site.
      access: { credentials: DEVELOPER_OR_SUPER, optional: CLIENT_SUPER },
      request: { params: IdParam, body: jsonBody(TagsInput) },
      responses: { 200: json("The updated account", Account) },
      errors: ["not_found", "conflict", "precondition_failed"],
    }),
    async (c) => {
      const account = await change(c.get("ctx"), c.req.valid("param").id, c.req.valid("json").tags);
      await tagAccount(c, account);
      return c.json(toAccount(account), 200);
    },
  );
}

accountTags.openapi(
  operation({
    operationId: "addTagsInBulk",
    tag,
    method: "post",
    path: "/add-tags/bulk",
    summary: "Add tags to many accounts",
    description:
      "Takes CSV of at most 10 MB and 50,000 rows with the columns `account_id` and `tag_name`; a tag_name may be a quoted comma-separated list. Rows are processed as they arrive; a 207 lists the rejected ones. Adding is safe to repeat.",
    access: { credentials: CLIENT_SUPER },
    input: { maxBytes: 10 * 1024 * 1024 },
    request: { body: { required: true, content: { "text/csv": { schema: BulkTags } } } },
    responses: { 200: json("Every row was processed", BulkTagsAnswer), 207: json("Some rows were rejected", BulkTagsIssues) },
  }),
  async (c) => {
    const { tagged, details } = await addTagsInBulk(c.get("ctx"), await bodyStream(c, "text/csv"));
    if (details.length === 0) return c.json({ success: true, tagged }, 200);
    return c.json({ success: false, tagged, message: "Tagging encountered issues with some accounts.", details }, 207);
  },
);
