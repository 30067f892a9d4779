import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { putReceipt, putSender, resetReceipt } from "#worker/services/custom-email/custom-email.ts";
import { ReceiptInput, ReceiptTemplate, Sender, SenderInput, toReceiptTemplate, toSender } from "#worker/services/custom-email/schemas.ts";

export const customEmail = createArea();
const tag = "Custom e-mail";

customEmail.openapi(
  operation({
    operationId: "putSenderEmail",
    tag,
    method: "put",
    path: "/customemail/v1/add-sender-email",
    summary: "Set the sender of the site's mail",
    description:
      "Mail to the site's people comes from this address instead of the deployment's no-reply address. The domain must carry a TXT record that proves it is the site's; while it does not, the 400 says which.",
    access: { credentials: ACCOUNT },
    request: { body: jsonBody(SenderInput) },
    responses: { 200: json("The sender as it is now", Sender) },
    errors: ["conflict", "precondition_failed", "unavailable"],
  }),
  async (c) => {
    const sender = await putSender(c.var.ctx, c.req.valid("json"));
    tagVersion(c, sender);
    return c.json(toSender(sender), 200);
  },
);

customEmail.openapi(
  operation({
    operationId: "putReceiptTemplate",
    tag,
    method: "put",
    path: "/customemail/v1",
    summary: "Set the receipt template",
    description:
      "Receipts are rendered from this Handlebars template. One that can't be read is refused with the line and column, one that takes too long or gets too large with the limit that it passes.",
    access: { credentials: ACCOUNT },
    request: { body: jsonBody(ReceiptInput) },
    responses: { 200: json("The template as it is now", ReceiptTemplate) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const receipt = await putReceipt(c.var.ctx, c.req.valid("json"));
    tagVersion(c, receipt);
    return c.json(toReceiptTemplate(receipt), 200);
  },
);

customEmail.openapi(
  operation({
    operationId: "resetReceiptTemplate",
    tag,
    method: "delete",
    path: "/customemail/v1",
    summary: "Go back to the default receipt",
    description: "Takes the site's own receipt template away; answers the default that is sent from now on.",
    access: { credentials: ACCOUNT },
    request: {},
    responses: { 200: json("The default template", ReceiptTemplate) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => c.json(toReceiptTemplate(await resetReceipt(c.var.ctx)), 200),
);
