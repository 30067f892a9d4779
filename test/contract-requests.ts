import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1, CHANNEL_2, SITE_A } from "#db/demo.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { domainProofs } from "#worker/services/custom-email/custom-email.ts";
import { ACCOUNT_CALLS, ACCOUNT_FIELDS, enrolledAccount, newIntentToken } from "./contract-accounts.ts";
import { ARCHIVE_CALLS, ARCHIVE_PARAMETERS, ARCHIVE_RESOURCES } from "./contract-archives.ts";
import { BILLING_CALLS, BILLING_CREATORS, BILLING_RESOURCES } from "./contract-billing.ts";
import { CHAT_CALLS, CHAT_RESOURCES } from "./contract-chat.ts";
import { COMMERCE_FIELDS, COMMERCE_CREATORS, COMMERCE_PARAMETERS, COMMERCE_QUERIES } from "./contract-commerce.ts";
import { OUTPUT_CALLS } from "./contract-outputs.ts";
import { LEADERBOARD_BODIES } from "./contract-leaderboards.ts";
import { POLL_BODIES } from "./contract-polls.ts";
import { isSigned, PROVIDER_PREREQUISITES, PROVIDER_RESOURCES, RULE_FIELDS, SIGNATURE_PLACEHOLDER } from "./contract-providers.ts";
import { GRAPHIC_CALLS, GRAPHIC_RESOURCES } from "./contract-graphics.ts";
import { PANEL_CALLS } from "./contract-panels.ts";
import { QUESTION_RESOURCES } from "./contract-questions.ts";
import { QUEST_LISTS, QUEST_RESOURCES } from "./contract-quests.ts";
import { uploadForm } from "./uploads.ts";
import { WEBHOOK_PREREQUISITES, WEBHOOK_RESOURCES } from "./contract-webhooks.ts";
import { RUNDOWN_BODIES } from "./contract-rundowns.ts";
import { sendsClientIdInQuery, type CallOptions, encodeBody, fillPath, ORIGIN, PASSWORD, type TestSite } from "./harness.ts";
import { type Operation, operationOf, operations } from "./openapi.ts";
import { SANDBOX_CALLS, SANDBOX_FIELDS } from "./contract-sandboxes.ts";
import { SHOP_CALLS, SHOP_RESOURCES } from "./contract-shop.ts";
import { publishTxt } from "./dns-resolver.ts";
import { workingProvider } from "./streams.ts";
import "./games-database.ts";
import "./video-platforms.ts";

// Valid requests for every operation: the document's own examples, with the test site's ids instead of the demo's.

const ID = "^[0-9a-f]{24}$";
const DEVICE = "contract-device";
/** Operations that create a resource. */
const creators = operations.filter(({ method, responseSchemas }) => method === "post" && responseSchemas.has(201));
const JsonObject = z.record(z.string(), z.unknown());
/** The new resource's id. According to the spec, providers, exports and broadcasts return it under other names. */
const Created = z.union([
  z.looseObject({ _id: z.string() }),
  z.looseObject({ id: z.string() }).transform(({ id }) => ({ _id: id })),
  z.looseObject({ exportId: z.string() }).transform(({ exportId }) => ({ _id: exportId })),
  z.looseObject({ broadcastId: z.string() }).transform(({ broadcastId }) => ({ _id: broadcastId })),
]);

/** Body fields whose values must exist, so that no example can contain them. */
const LIVE: Record<string, (site: TestSite, operation: Operation) => Promise<unknown>> = {
  ...ACCOUNT_FIELDS,
  ...COMMERCE_FIELDS,
  ...RULE_FIELDS,
  ...SANDBOX_FIELDS,
  domain: async (site) => {
    publishTxt("demo.example", `"${(await domainProofs(env, site.id, "demo.example"))[0]}"`);
    return "demo.example";
  },
  provider: async (site, { operationId, body }) =>
    operationId === "createStream" ? workingProvider(site) : JsonObject.parse(body?.example).provider,
  streamId: async (site) => Created.parse((await site.call("createStream", await validCall(site, operationOf("createStream")))).body)._id,
  members: async (site) => {
    const video = Created.parse((await site.call("createVideo", await validCall(site, operationOf("createVideo")))).body);
    return [{ id: video._id, schema: "video" }];
  },
  targetId: async (site) => Created.parse((await site.call("createOverlay", await validCall(site, operationOf("createOverlay")))).body)._id,
  senderAccountId: async (site) => site.accounts.admin.id,
  refreshToken: async (site) => {
    const response = await site.call("login", {
      as: "nobody",
      body: { email: site.accounts.viewer.email, password: PASSWORD, siteId: site.id },
    });
    return z.object({ refreshToken: z.string() }).parse({ refreshToken: JsonObject.parse(response.body).refreshToken }).refreshToken;
  },
  themeNameOrId: async (site) =>
    Created.parse((await site.call("createAdminTheme", { body: { name: "Control room", colors: {} } })).body)._id,
};

async function newSegment(site: TestSite): Promise<string> {
  await site.call("updateSite", await validCall(site, operationOf("updateSite")));
  return "gold-members";
}

/** The same for path parameters that aren't ids of ours. */
const LIVE_PARAMETERS: Record<string, (site: TestSite) => Promise<string>> = {
  ...COMMERCE_PARAMETERS,
  ...ARCHIVE_PARAMETERS,
  "/overlay/v1/graphics/{id}/files/{path}": () => Promise.resolve("images/crest.svg"),
  "/auth/v2/intent/consume/{token}": newIntentToken,
  "/site/v1/segments/{slug}/size": newSegment,
  "/insights/v1/segments/{slug}": newSegment,
  "/page/v2/devices/{deviceId}": async (site) => {
    const headers = { "Tifo-Device-Id": DEVICE };
    const params = { pageId: await site.addChannel(`devices-${randomHex(6)}`) };
    for (const as of ["viewer", "reader", "admin"] as const) await site.call("getContentById", { as, params, headers });
    return DEVICE;
  },
  "/accesscode/v1/tv/{code}": async (site) => {
    const created = await site.call("createTvCode", { as: "client", body: { deviceId: DEVICE } });
    return String(JsonObject.parse(created.body).code);
  },
  "/video/v3/metadata/{liveBroadcastId}": async (site) => {
    const body = { title: "Derby", durationSeconds: 0, player: "tifo", type: "livestream", url: "https://live.demo.example/derby.m3u8" };
    const liveBroadcastId = randomHex(6);
    await site.call("createVideo", { body: { ...body, liveBroadcastId } });
    return liveBroadcastId;
  },
  "/invite/v1/magic-link/{token}": async (site) => {
    const created = await site.call("createInvite", await validCall(site, operationOf("createInvite")));
    return String(JsonObject.parse(created.body).token);
  },
  "/invite/v1/register/{token}": async (site) => {
    const created = await site.call("createRegisterInvite", await validCall(site, operationOf("createRegisterInvite")));
    return signContent(env, "register invite", Created.parse(created.body)._id);
  },
};

/** The operation that creates a path's resource, if it has a different path. */
const CREATORS: Record<string, string> = {
  ...BILLING_CREATORS,
  ...COMMERCE_CREATORS,
  "/streamprovider/v1": "registerStreamProvider",
  "/streamprovider/v1/{id}": "registerStreamProvider",
  "/accesscode/v1/{id}": "addAccessCode",
  "/overlay/v1/broadcasts/{broadcastId}/receipt": "broadcastOverlay",
  "/overlay/v1/channels/{channelId}/broadcasts/{broadcastId}": "broadcastOverlay",
  "/invite/v1/{id}": "createInvite",
  "/invite/v1/revoke/{id}": "createInvite",
  "/navigation/v1/default/navigation": "createNavigation",
  "/themes/v1/{id}": "createCustomTheme",
  // A profile is created with its account.
  "/userprofile/v1/{id}": "getOwnUserProfile",
};

/** Parameters that are a channel's id, whatever the operation's own resource is. */
const CHANNEL_PARAMETERS = new Set(["channelId", "targetId", "pageId"]);

/** Fields whose values must be unique. */
const UNIQUE: Record<string, () => string> = {
  slug: () => `new-${randomHex(6)}`,
  email: () => `new-${randomHex(6)}@demo.example`,
  accessCode: () => `NEW-${randomHex(6)}`,
  transactionId: () => `order-${randomHex(6)}`,
};

/** The requests that a rule below doesn't make, by their operation. */
const CALLS = {
  ...ARCHIVE_CALLS,
  ...BILLING_CALLS,
  ...ACCOUNT_CALLS,
  ...CHAT_CALLS,
  ...GRAPHIC_CALLS,
  ...OUTPUT_CALLS,
  ...PANEL_CALLS,
  ...SANDBOX_CALLS,
  ...SHOP_CALLS,
};

/** A request that the operation accepts, with a new resource each time; a list has at least one entry. */
export async function validCall(site: TestSite, operation: Operation): Promise<CallOptions> {
  const known = await CALLS[operation.operationId]?.(site);
  if (known) return known;
  const creator =
    operation.method === "get"
      ? creators.find(({ path, operationId }) => path === operation.path || operationId === CREATORS[operation.path])
      : undefined;
  if (creator) await site.call(creator.operationId, await validCall(site, creator));
  await QUEST_LISTS[operation.path]?.(site);
  await WEBHOOK_PREREQUISITES[operation.operationId]?.(site);
  await PROVIDER_PREREQUISITES[operation.operationId]?.(site);
  const query = { ...validQuery(site, operation), ...(await COMMERCE_QUERIES[operation.operationId]?.(site)) };
  const file = operation.takesFile ? uploadForm() : operation.text;
  const body = operation.body ? await validBody(site, operation, operation.body.example) : file;
  const headers: Record<string, string> = operation.responses.has(101) ? { Upgrade: "websocket" } : {};
  if (operation.security.flat().includes("device")) headers["Tifo-Device-Id"] = DEVICE;
  if (isSigned(operation)) headers["Tifo-Signature"] = SIGNATURE_PLACEHOLDER;
  const params = await validParams(site, operation);
  const live = { ...POLL_BODIES, ...LEADERBOARD_BODIES, ...RUNDOWN_BODIES }[operation.operationId];
  return { params, query, body: (await live?.(site, params)) ?? body, headers };
}

function validQuery(site: TestSite, operation: Operation): Record<string, string> {
  const required = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const examples = localise(site, Object.fromEntries(required.map(({ name, example }) => [name, example])));
  return Object.fromEntries(Object.entries(JsonObject.parse(examples)).map(([name, value]) => [name, String(value)]));
}

export async function validParams(site: TestSite, operation: Operation): Promise<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const { name, example, schema } of operation.parameters.filter((parameter) => parameter.in === "path")) {
    if (CHANNEL_PARAMETERS.has(name)) params[name] = site.channels[0];
    else if (name === "siteId") params[name] = site.id;
    else if (schema.pattern === ID) params[name] = await ownResource(site, operation);
    else params[name] = (await LIVE_PARAMETERS[operation.path]?.(site)) ?? String(example);
  }
  return params;
}

/** The path parameters that are ids of ours. */
export function idParameters(operation: Operation): string[] {
  return operation.parameters
    .filter((parameter) => parameter.in === "path" && parameter.schema.pattern === ID)
    .map((parameter) => parameter.name);
}

/** Creates the path's resource with the closest operation above that creates one. */
async function ownResource(site: TestSite, operation: Operation): Promise<string> {
  const create = {
    ...ARCHIVE_RESOURCES,
    ...BILLING_RESOURCES,
    ...SHOP_RESOURCES,
    ...CHAT_RESOURCES,
    ...GRAPHIC_RESOURCES,
    ...QUEST_RESOURCES,
    ...QUESTION_RESOURCES,
    ...PROVIDER_RESOURCES,
    ...WEBHOOK_RESOURCES,
  }[operation.path];
  if (create) return create(site);
  if (operation.path === "/account/v3/{id}/totp") return enrolledAccount(site);
  const named = operations.find(({ operationId }) => operationId === CREATORS[operation.path]);
  const above = creators.filter(({ path }) => operation.path.startsWith(`${path}/`));
  const nearest = named ?? above.sort((one, other) => other.path.length - one.path.length)[0];
  if (!nearest) throw new Error(`No operation creates the resource of ${operation.path}; add it to the contract's requests`);
  const created = await site.call(nearest.operationId, await validCall(site, nearest));
  return Created.parse(created.body)._id;
}

async function validBody(site: TestSite, operation: Operation, example: unknown): Promise<unknown> {
  const localised = localise(site, example);
  if (Array.isArray(localised)) return localised;
  const body = JsonObject.parse(localised);
  for (const [name, value] of Object.entries(LIVE))
    if (operation.body?.schema.properties?.[name]) body[name] = await value(site, operation);
  return body;
}

/** Replaces the demo's ids and people in the example with this site's, and unique fields with new values. */
function localise(site: TestSite, example: unknown): unknown {
  const own: Record<string, string> = {
    [SITE_A]: site.id,
    [CHANNEL_1]: site.channels[0],
    [CHANNEL_2]: site.channels[1],
    "admin@demo.example": site.accounts.admin.email,
    wowza: `new-${randomHex(6)}`,
  };
  const text = JSON.stringify(example ?? null, (key, value: unknown) => {
    if (typeof value !== "string") return value;
    return own[value] ?? UNIQUE[key]?.() ?? value;
  });
  return JSON.parse(text);
}

/** A complete request, of which a test changes one part. */
export interface Draft {
  url: URL;
  headers: Record<string, string>;
  body: BodyInit | null;
}

export function draft(
  site: TestSite,
  operation: Operation,
  { params, query = {}, body, headers = {} }: CallOptions,
  credentials: Record<string, string>,
): Draft {
  const url = new URL(fillPath(operation, params), ORIGIN);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  if (sendsClientIdInQuery(operation)) url.searchParams.set("clientId", site.id);
  const encoded = encodeBody(body);
  const client: Record<string, string> = operation.security.every((set) => set.includes("client")) ? { "Tifo-Client-Id": site.id } : {};
  return { url, headers: { ...client, ...credentials, ...encoded.headers, ...headers }, body: encoded.body };
}

/** The request with changed headers, query parameters or body; undefined removes a header or parameter. */
export function change(
  base: Draft,
  to: { headers?: Record<string, string | undefined>; query?: Record<string, string | undefined>; path?: string; body?: BodyInit | null },
): Draft {
  const url = new URL(base.url);
  if (to.path !== undefined) url.pathname = to.path;
  for (const [name, value] of Object.entries(to.query ?? {})) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...base.headers, ...to.headers })) if (value !== undefined) headers[name] = value;
  return { url, headers, body: to.body === undefined ? base.body : to.body };
}
