import type { Context } from "hono";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ANYONE, CLIENT, DEVELOPER, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { inviteFailure } from "#worker/services/invites/failures.ts";
import {
  createInvite,
  deleteInvite,
  getInvite,
  listInvites,
  openInvite,
  revokeInvite,
  updateInvite,
} from "#worker/services/invites/invites.ts";
import type { Invite as InviteRow } from "#worker/services/invites/invite-rows.ts";
import { acceptRegisterInvite, createRegisterInvite } from "#worker/services/invites/register-invites.ts";
import { Account, toAccount } from "#worker/services/accounts/schemas.ts";
import {
  AcceptInvite,
  EitherInvite,
  Invite,
  InviteFilters,
  InviteInput,
  InviteTokenParam,
  RegisterInvite,
  RegisterInviteInput,
  RegisterTokenParam,
  toInvite,
  toRegisterInvite,
  UpdateInvite,
} from "#worker/services/invites/schemas.ts";

export const invites = createArea();
const tag = "Invites";

invites.openapi(
  operation({
    operationId: "listInvites",
    tag,
    method: "get",
    path: "/invite/v1",
    summary: "List magic links",
    description: "The site's magic links, newest first, including revoked ones. `search` matches redirectUri.",
    access: { credentials: DEVELOPER },
    request: { query: listQuery(["created", "modified", "expiresAt"], InviteFilters) },
    responses: { 200: json("A page of invites", listOf(Invite).openapi("InviteList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listInvites(c.get("ctx"), query);
    return c.json(
      listResponse(c.req.url, query, page, (row) => wireOf(c, row)),
      200,
    );
  },
);

invites.openapi(
  operation({
    operationId: "createInvite",
    tag,
    method: "post",
    path: "/invite/v1/magic-link",
    summary: "Create a magic link",
    description:
      "Creates a link that grants its visitor the target skus, and with them access to content gated by these. Share `inviteUrl`.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    input: { invalidMessage: inviteFailure("Create") },
    request: { body: jsonBody(InviteInput) },
    responses: { 201: json("The invite", Invite) },
  }),
  async (c) => {
    const invite = await createInvite(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, invite);
    return c.json(wireOf(c, invite), 201);
  },
);

invites.openapi(
  operation({
    operationId: "openInvite",
    tag,
    method: "get",
    path: "/invite/v1/magic-link/{token}",
    summary: "Open a magic link",
    description:
      "For browsers: redirects to `redirectUri` with an `intent`, valid for 10 minutes, which `/auth/v2/intent/consume` redeems once into a guest account that holds the target skus. Until then the link can be opened again. HEAD requests and prefetches have no effect.",
    access: { credentials: ANYONE },
    request: { params: InviteTokenParam },
    responses: {
      302: { description: "Redirect to redirectUri" },
      204: { description: "A HEAD request or a prefetch, which has no effect" },
    },
    errors: ["not_found"],
  }),
  async (c) => {
    if (isPrefetch(c)) return c.body(null, 204);
    const target = await openInvite(c.get("ctx"), c.req.valid("param").token, callerAddress(c));
    c.header("Referrer-Policy", "no-referrer");
    return c.redirect(target, 302);
  },
);

invites.openapi(
  operation({
    operationId: "createRegisterInvite",
    tag,
    method: "post",
    path: "/invite/v1/register",
    summary: "Invite a person to register",
    description:
      "Mails a link, valid for 7 days, to register an account with the target roles. Rejected if the site allows no new admins. A developer key also needs `roles:write`, because the account gets roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    input: { invalidMessage: inviteFailure("Create") },
    request: { body: jsonBody(RegisterInviteInput) },
    responses: { 201: json("The invitation", RegisterInvite) },
  }),
  async (c) => c.json(toRegisterInvite(await createRegisterInvite(c.get("ctx"), c.req.valid("json"), new URL(c.req.url).origin)), 201),
);

invites.openapi(
  operation({
    operationId: "acceptRegisterInvite",
    tag,
    method: "post",
    path: "/invite/v1/register/{token}",
    summary: "Accept an invitation",
    description: "Creates the account that the mailed link invites to, with a name and password. Each link can be used once.",
    access: { credentials: CLIENT },
    limit: { name: "createAccount" },
    input: { invalidMessage: inviteFailure("Accept") },
    request: { params: RegisterTokenParam, body: jsonBody(AcceptInvite) },
    responses: { 201: json("The account", Account) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toAccount(await acceptRegisterInvite(c.get("ctx"), c.req.valid("param").token, c.req.valid("json"))), 201),
);

invites.openapi(
  operation({
    operationId: "revokeInvite",
    tag,
    method: "delete",
    path: "/invite/v1/revoke/{id}",
    summary: "Revoke an invite",
    description:
      "A revoked magic link can't be used; if it has been redeemed, the account loses what the invite granted. An invitation by email can be revoked until it is accepted. The record stays.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("The invite", EitherInvite) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const invite = await revokeInvite(c.get("ctx"), c.req.valid("param").id);
    return c.json("email" in invite ? toRegisterInvite(invite) : wireOf(c, invite), 200);
  },
);

invites.openapi(
  operation({
    operationId: "getInvite",
    tag,
    method: "get",
    path: "/invite/v1/{id}",
    summary: "Get a magic link",
    description: "Returns one magic link of the site, with its token.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("The invite", Invite) },
    errors: ["not_found"],
  }),
  async (c) => {
    const invite = await getInvite(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, invite);
    return c.json(wireOf(c, invite), 200);
  },
);

invites.openapi(
  operation({
    operationId: "updateInvite",
    tag,
    method: "put",
    path: "/invite/v1/{id}",
    summary: "Update a magic link",
    description:
      "Replaces the redirect and the grants of a magic link; its URL stays the same. A redeemed or revoked link can't be updated.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    input: { invalidMessage: inviteFailure("Update") },
    request: { params: IdParam, body: jsonBody(UpdateInvite) },
    responses: { 200: json("The updated invite", Invite) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const invite = await updateInvite(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, invite);
    return c.json(wireOf(c, invite), 200);
  },
);

invites.openapi(
  operation({
    operationId: "deleteInvite",
    tag,
    method: "delete",
    path: "/invite/v1/{id}",
    summary: "Delete an invite",
    description:
      "Deletes a magic link or an invitation by email, and its record. A redeemed link must be revoked first, so that no entitlement outlives its record.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteInvite(c.get("ctx"), c.req.valid("param").id)), 200),
);

function wireOf(c: Context, row: InviteRow) {
  return toInvite(row, new URL(c.req.url).origin);
}

/** Whether nobody has actually opened the link: a HEAD request, or a browser prefetch. */
function isPrefetch(c: Context): boolean {
  const purpose = ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].map((name) => c.req.header(name) ?? "").join();
  return c.req.method === "HEAD" || /prefetch|prerender|preview/i.test(purpose);
}
