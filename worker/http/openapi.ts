import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-env.ts";
import { SECURITY_SCHEMES } from "./credentials.ts";
import { splitDirections } from "./openapi-directions.ts";

/** What each tag of the document is about; a test compares the list with the tags in use. */
export const TAGS = {
  Authentication: "Signing in and out, and the keys that verify our tokens.",
  Accounts: "The people of a site: viewers, creators and admins.",
  "Access codes": "Coupons that grant a subscription or a login, and the codes by which televisions sign in.",
  Invites: "Magic links that let their holders past a gate, and invitations by e-mail to an account with roles.",
  Subscriptions: "What a site sells or gives, and who holds it.",
  "User profiles": "What anybody may see of an account.",
  Sites: "The site itself, and how a deployment gets one.",
  "Custom e-mail": "From whom a site's mail comes, and how its receipts look.",
  Navigation: "The menus of a site, and which page shows which.",
  Themes: "How channels look: colours, type, buttons.",
  Panels: "What stands beside the picture: chat, schedule, quests and more.",
  Pages: "Channels and landing pages.",
  Overlays: "What is shown over the picture: made, broadcast, cleared.",
  "Data providers": "Outside systems that tell what happens, and the events they send.",
  "Automation rules": "What is to happen by itself when a provider tells of something.",
  Videos: "Recordings and livestreams, wherever they are played from, and how often they were watched.",
  Playlists: "Videos and other things in an order.",
  Community: "The members of a site: found, granted, cancelled, refunded, exported.",
  Polls: "Polls, predictions and trivia: asked, answered, counted and settled.",
  Streams: "Live streams: made, started and stopped at the provider that runs them.",
  "Stream providers": "Outside systems that run a site's streams.",
  Calendar: "What is on when, for pages and calendar apps.",
  Quests: "What viewers do for a reward: made, worked out, claimed, drawn.",
  Claims: "Rewards that were claimed, and what has become of them.",
  Media: "Pictures, animations and captions, uploaded and served.",
  Billing: "Charges, refunds, and what Stripe, which takes the money, tells of them.",
  Bundles: "Tickets and shop items that are sold together.",
  Wallets: "Who pays: what they are to Stripe, and what they pay regularly.",
  Realtime: "The channel's live connection: tickets, WebSocket and Server-Sent Events.",
  Insights: "Who is watching now, and what the limits leave.",
  Webhooks: "What happened on a site, told to other systems.",
  Health: "Whether the deployment works.",
} as const;

/** The OpenAPI document of everything that the app has mounted; emitted at build and served as a static file. */
export function openApiDocument(app: OpenAPIHono<AppEnv>) {
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  app.openAPIRegistry.registerComponent("parameters", "IdempotencyKey", {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "A repeated request with the same key runs once: for 24 hours it gets the first answer, with `Idempotent-Replayed: true`.",
    schema: { type: "string", maxLength: 255 },
    example: "goal-17-home",
  });
  return app.getOpenAPIDocument(
    {
      openapi: "3.0.3",
      info: {
        title: "Content API",
        version: "2.0.0",
        description:
          "Live audience engagement at the edge: channels, overlays and viewers. Every path answers with and without a trailing slash. Times are milliseconds since 1970 UTC unless a field says otherwise.",
        license: { name: "MIT", url: "https://opensource.org/license/mit" },
        contact: { name: "Tifo", url: "https://github.com/tifo-live/tifo" },
      },
      servers: [{ url: "/", description: "This deployment" }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    },
    { sortComponents: "alphabetically" },
  );
}

/** The document's text, with each schema right for its direction and readable by strict OpenAPI 3.0 tools. */
export function openApiText(app: OpenAPIHono<AppEnv>): string {
  const repaired: unknown = JSON.parse(JSON.stringify(openApiDocument(app), (_, value: unknown) => repaired30(value)));
  return `${JSON.stringify(splitDirections(repaired), null, 2)}\n`;
}

/** OpenAPI 3.0 gives `nullable` a meaning only beside a `type`, and a reference or a union has none. */
const NULL = { type: "object", nullable: true, enum: [null] };

/** Repairs what the library writes for `z.unknown()`, for unions and references that may be null, and for slashes in patterns. */
function repaired30(value: unknown): unknown {
  if (isBareNullable(value)) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const schema = "pattern" in value && typeof value.pattern === "string" ? { ...value, pattern: unescapeSlashes(value.pattern) } : value;
  return withNullMember(schema);
}

/** A union or reference that may be null is written with a bare `nullable` among its members, which becomes an explicit null. */
function withNullMember(schema: object): object {
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const { [keyword]: members, ...rest } = Object.fromEntries<unknown>(Object.entries(schema).filter(([name]) => name !== "nullable"));
    if (!Array.isArray(members) || !members.some(isNullable)) continue;
    const others: unknown[] = members.filter((member) => !isNullable(member));
    const description = members.map(descriptionOf).find((text) => text !== undefined);
    return { ...rest, ...(description && { description }), [keyword === "anyOf" ? "anyOf" : "oneOf"]: [...others, NULL] };
  }
  return schema;
}

/** `RegExp.source` escapes slashes, which JSON Schema needs nowhere. */
export function unescapeSlashes(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gs, (escape, character: string) => (character === "/" ? "/" : escape));
}

/** `{ nullable: true }`, which without a type says nothing; as a member it may carry the description of the whole. */
function isBareNullable(value: unknown): boolean {
  return isNullable(value) && descriptionOf(value) === undefined;
}

function isNullable(value: unknown): value is { nullable: true } {
  const keywords = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return keywords.includes("nullable") && keywords.every((keyword) => keyword === "nullable" || keyword === "description");
}

function descriptionOf(value: unknown): string | undefined {
  if (!isNullable(value) || !("description" in value)) return undefined;
  return typeof value.description === "string" ? value.description : undefined;
}
