import { createArea } from "#worker/http/area.ts";
import { ANYONE, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { toAccount } from "#worker/services/accounts/schemas.ts";
import { claimSandbox, createSandbox, discardSandbox, getSandbox, getSandboxChallenge } from "#worker/services/sandboxes/sandboxes.ts";
import {
  ClaimedSandbox,
  ClaimSandbox,
  DiscardSandbox,
  Sandbox,
  SandboxChallenge,
  SandboxProof,
  SandboxState,
} from "#worker/services/sandboxes/schemas.ts";
import { toPublicSite } from "#worker/services/sites/schemas.ts";

export const sandboxes = createArea();

const tag = "Sites";

sandboxes.openapi(
  operation({
    operationId: "createSandbox",
    tag,
    method: "post",
    path: "/site/v1/sandbox",
    summary: "Create a sandbox",
    description:
      "Creates a site of your own for 72 hours, with a developer key, an admin, a viewer, a channel, a poll and two overlays. Its rate limits are a tenth of the usual ones, it can take 5,000 changes and 20 uploads, and its email is [shown instead of sent](/docs/api-reference/getSandbox). [Claim it](/docs/api-reference/claimSandbox) to keep it; otherwise everything of it is deleted. A public deployment requires a [proof of work](/docs/api-reference/getSandboxChallenge). Returns 404 if the deployment offers no sandboxes, and 503 while all of them are in use.",
    access: { credentials: ANYONE },
    retries: { replay: "none" },
    request: { body: optionalJsonBody(SandboxProof) },
    responses: { 201: json("The sandbox and its credentials", Sandbox) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { site, channel, admin, viewer, poll, overlay, ...rest } = await createSandbox(
      c.get("ctx"),
      callerAddress(c),
      c.req.valid("json"),
    );
    const body = {
      ...rest,
      site: toPublicSite(site),
      channel: { _id: channel.id, slug: channel.slug, name: channel.data.name ?? "" },
      admin: { accountId: admin.id, email: admin.email },
      viewer: { accountId: viewer.id, email: viewer.email },
      pollId: poll.id,
      overlayId: overlay.id,
    };
    return c.json(body, 201);
  },
);

sandboxes.openapi(
  operation({
    operationId: "getSandboxChallenge",
    tag,
    method: "get",
    path: "/site/v1/sandbox/challenge",
    summary: "Get a challenge for a sandbox",
    description:
      "Returns the proof of work that [creating a sandbox](/docs/api-reference/createSandbox) takes: find a `solution` with which the SHA-256 hash of `<challenge>.<solution>` begins with `bits` zero bits. A challenge is valid once, for ten minutes. With `bits` 0, no proof is required.",
    access: { credentials: ANYONE },
    request: {},
    responses: { 200: json("The challenge", SandboxChallenge) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await getSandboxChallenge(c.get("ctx")), 200),
);

sandboxes.openapi(
  operation({
    operationId: "claimSandbox",
    tag,
    method: "post",
    path: "/site/v1/sandbox/claim",
    summary: "Claim a sandbox",
    description:
      "Keeps a sandbox: it becomes a site like any other, with everything in it and the usual limits. Creates the account of its owner, a site admin; the password of the sandbox's own admin stops working. The developer key stays valid.",
    access: { credentials: ANYONE },
    retries: { keyOwner: "body" },
    request: { body: jsonBody(ClaimSandbox) },
    responses: { 200: json("The site and its admin", ClaimedSandbox) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { site, admin } = await claimSandbox(c.get("ctx"), c.req.valid("json"), callerAddress(c));
    return c.json({ site: toPublicSite(site), admin: toAccount(admin) }, 200);
  },
);

sandboxes.openapi(
  operation({
    operationId: "discardSandbox",
    tag,
    method: "post",
    path: "/site/v1/sandbox/discard",
    summary: "Discard a sandbox",
    description: "Ends all access to a sandbox at once, before it expires. Everything of it is deleted within the hour.",
    access: { credentials: ANYONE },
    retries: { keyOwner: "body" },
    request: { body: jsonBody(DiscardSandbox) },
    responses: { 204: { description: "The sandbox is closed" } },
    errors: ["not_found"],
  }),
  async (c) => {
    await discardSandbox(c.get("ctx"), c.req.valid("json").claimToken);
    return c.body(null, 204);
  },
);

sandboxes.openapi(
  operation({
    operationId: "getSandbox",
    tag,
    method: "get",
    path: "/site/v1/sandbox",
    summary: "Get the sandbox's state",
    description: "Returns when the site expires, if it is a sandbox, and the email that it would have sent.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {},
    responses: { 200: json("The state of the sandbox", SandboxState) },
  }),
  async (c) => {
    const { expires, mails } = await getSandbox(c.get("ctx"));
    const sent = mails.map(({ id, recipient, subject, text, created }) => ({ _id: id, to: recipient, subject, text, created }));
    return c.json({ siteId: c.get("ctx").siteId, expires, mails: sent }, 200);
  },
);
