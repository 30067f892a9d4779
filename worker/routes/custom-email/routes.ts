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
    summary: "Set the sender of the site's email",
    description:
      "Sends the site's email from this address instead of the deployment's no-reply address. A TXT record must prove that the site owns the domain; if it is missing, the 400 contains the record to add.",
    access: { credentials: ACCOUNT },
    request: { body: jsonBody(SenderInput) },
    responses: { 200: json("The updated sender", Sender) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const sender = await putSender(c.get("ctx"), c.req.valid("json"));
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
      "Receipts are rendered from this Handlebars template. A template that can't be parsed is rejected with line and column; one that takes too many steps or gets too large, with the exceeded limit.",
    access: { credentials: ACCOUNT },
    request: { body: jsonBody(ReceiptInput) },
    responses: { 200: json("The updated template", ReceiptTemplate) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const receipt = await putReceipt(c.get("ctx"), c.req.valid("json"));
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
    summary: "Reset the receipt template",
    description: "Deletes the site's own receipt template, and returns the default that is used from now on.",
    access: { credentials: ACCOUNT },
    request: {},
    responses: { 200: json("The default template", ReceiptTemplate) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => c.json(toReceiptTemplate(await resetReceipt(c.get("ctx"))), 200),
);
