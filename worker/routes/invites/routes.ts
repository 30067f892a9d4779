import type { Context } from "hono";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ANYONE, CLIENT, DEVELOPER, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
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
    description: "The site's magic links, the newest first, the revoked ones among them. `search` looks in redirectUri.",
    credentials: DEVELOPER,
    request: { query: listQuery(["created", "modified", "expiresAt"], InviteFilters) },
    responses: { 200: json("A page of invites", listOf(Invite).openapi("InviteList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listInvites(c.var.ctx, query);
    return c.json(
      listAnswer(c.req.url, query, page, (row) => wireOf(c, row)),
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
    description: "Makes a link that lets whoever opens it past the gates that name the target skus. Hand out `inviteUrl`.",
    credentials: DEVELOPER,
    secretAnswer: true,
    refusal: inviteFailure("Create"),
    request: { body: jsonBody(InviteInput) },
    responses: { 201: json("The invite", Invite) },
  }),
  async (c) => {
    const invite = await createInvite(c.var.ctx, c.req.valid("json"));
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
      "For browsers: leads on to `redirectUri` with an `intent` of 10 minutes, which `/auth/v2/intent/consume` redeems once into a guest account that holds the target skus. Until then the link may be opened again. HEAD requests and prefetches do nothing.",
    credentials: ANYONE,
    request: { params: InviteTokenParam },
    responses: { 302: { description: "To redirectUri" }, 204: { description: "A HEAD request or a prefetch: nothing was done" } },
    errors: ["not_found"],
  }),
  async (c) => {
    if (isIdle(c)) return c.body(null, 204);
    const target = await openInvite(c.var.ctx, c.req.valid("param").token, callerAddress(c));
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
    summary: "Invite somebody to register",
    description:
      "Mails a link by which somebody becomes an account with the target roles; it is good for 7 days. Refused where the site allows no new admins. A key needs `roles:write` too, since the account gets roles.",
    credentials: DEVELOPER_OR_ACCOUNT,
    refusal: inviteFailure("Create"),
    request: { body: jsonBody(RegisterInviteInput) },
    responses: { 201: json("The invitation", RegisterInvite) },
  }),
  async (c) => c.json(toRegisterInvite(await createRegisterInvite(c.var.ctx, c.req.valid("json"))), 201),
);

invites.openapi(
  operation({
    operationId: "acceptRegisterInvite",
    tag,
    method: "post",
    path: "/invite/v1/register/{token}",
    summary: "Accept an invitation",
    description: "Makes the account that the mailed link stands for, with the name and password that its holder chooses. Once.",
    credentials: CLIENT,
    limit: "createAccount",
    refusal: inviteFailure("Accept"),
    request: { params: RegisterTokenParam, body: jsonBody(AcceptInvite) },
    responses: { 201: json("The account", Account) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toAccount(await acceptRegisterInvite(c.var.ctx, c.req.valid("param").token, c.req.valid("json"))), 201),
);

invites.openapi(
  operation({
    operationId: "revokeInvite",
    tag,
    method: "delete",
    path: "/invite/v1/revoke/{id}",
    summary: "Revoke an invite",
    description:
      "A magic link that has not been redeemed lets nobody in any more; of one that has, the account loses what the invite granted. An invitation by e-mail can be revoked until it is accepted. The record stays.",
    credentials: DEVELOPER,
    request: { params: IdParam },
    responses: { 200: json("The invite", EitherInvite) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const invite = await revokeInvite(c.var.ctx, c.req.valid("param").id);
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
    description: "One magic link of the site, with its token.",
    credentials: DEVELOPER,
    request: { params: IdParam },
    responses: { 200: json("The invite", Invite) },
    errors: ["not_found"],
  }),
  async (c) => {
    const invite = await getInvite(c.var.ctx, c.req.valid("param").id);
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
    summary: "Change a magic link",
    description: "Replaces where an invite leads and what it grants; the link stays the same. One that was redeemed or revoked is settled.",
    credentials: DEVELOPER,
    secretAnswer: true,
    refusal: inviteFailure("Update"),
    request: { params: IdParam, body: jsonBody(UpdateInvite) },
    responses: { 200: json("The invite as it is now", Invite) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const invite = await updateInvite(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
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
      "Removes a magic link or an invitation by e-mail, and its record. A link that was redeemed must be revoked first, so that nobody keeps what no record explains.",
    credentials: DEVELOPER,
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteInvite(c.var.ctx, c.req.valid("param").id)), 200),
);

function wireOf(c: Context, row: InviteRow) {
  return toInvite(row, new URL(c.req.url).origin);
}

/** Nobody has opened the link: a HEAD request, or a browser that fetches ahead. */
function isIdle(c: Context): boolean {
  const purpose = ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].map((name) => c.req.header(name) ?? "").join();
  return c.req.method === "HEAD" || /prefetch|prerender|preview/i.test(purpose);
}
