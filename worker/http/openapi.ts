import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-env.ts";
import { SECURITY_SCHEMES } from "./credentials.ts";

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

/** The document's text, with what OpenAPI 3.0 gives no meaning set right. */
export function openApiText(app: OpenAPIHono<AppEnv>): string {
  return `${JSON.stringify(openApiDocument(app), (_, value: unknown) => withMeaning(value), 2)}\n`;
}

/** `nullable` without a type: from `z.unknown()` it means anything, the empty schema; as a member of a union it belongs to the union, beside the type that its members share. */
function withMeaning(value: unknown): unknown {
  if (isBareNullable(value)) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const union = Object.entries(value).find(([name]) => name === "allOf" || name === "anyOf" || name === "oneOf");
  if (!union || !Array.isArray(union[1]) || !union[1].some(isBareNullable)) return value;
  const members: unknown[] = union[1].filter((member) => !isBareNullable(member));
  const type = members.every(isObjectSchema) ? { type: "object" } : {};
  return { ...type, ...value, [union[0]]: members, nullable: true };
}

function isObjectSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "object";
}

function isBareNullable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).join() === "nullable";
}
