import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { cors } from "hono/cors";
import { answer } from "./http/answer.ts";
import type { AppEnv } from "./http/app-env.ts";
import { createFloodGuard } from "./http/flood-guard.ts";
import { renderFailure, toFailure } from "./http/errors.ts";
import { invalidInput } from "./lib/schemas/invalid-input.ts";
import { rejectUpgrade, wantsSocket } from "./http/upgrade.ts";
import { Failure } from "./lib/errors.ts";
import { accessCodes } from "./routes/access-codes/routes.ts";
import { accounts } from "./routes/accounts/routes.ts";
import { automationRules } from "./routes/automation-rules/routes.ts";
import { auth } from "./routes/auth/routes.ts";
import { claimStatuses } from "./routes/claim-statuses/routes.ts";
import { community } from "./routes/community/routes.ts";
import { dataProviders } from "./routes/data-providers/routes.ts";
import { events } from "./routes/events/routes.ts";
import { billing } from "./routes/billing/routes.ts";
import { bundles } from "./routes/bundles/routes.ts";
import { customEmail } from "./routes/custom-email/routes.ts";
import { health } from "./routes/health/routes.ts";
import { insights } from "./routes/insights/routes.ts";
import { navigation } from "./routes/navigation/routes.ts";
import { media } from "./routes/media/routes.ts";
import { invites } from "./routes/invites/routes.ts";
import { overlays } from "./routes/overlays/routes.ts";
import { configurations } from "./routes/pages/configuration.ts";
import { pageContent } from "./routes/pages/content.ts";
import { devices } from "./routes/pages/devices.ts";
import { pages } from "./routes/pages/routes.ts";
import { channelTemplates } from "./routes/pages/templates.ts";
import { panels } from "./routes/panels/routes.ts";
import { playlists } from "./routes/playlists/routes.ts";
import { polls } from "./routes/polls/routes.ts";
import { quests } from "./routes/quests/routes.ts";
import { realtime } from "./routes/realtime/routes.ts";
import { apiKeys } from "./routes/sites/api-keys.ts";
import { playbackKeys } from "./routes/sites/playback-keys.ts";
import { sites } from "./routes/sites/routes.ts";
import { streamProviders } from "./routes/stream-providers/routes.ts";
import { streams } from "./routes/streams/routes.ts";
import { subscriptions } from "./routes/subscriptions/routes.ts";
import { checkout } from "./routes/subscriptions/checkout.ts";
import { themes } from "./routes/themes/routes.ts";
import { userProfiles } from "./routes/user-profiles/routes.ts";
import { videos } from "./routes/videos/routes.ts";
import { deliveries } from "./routes/webhooks/deliveries.ts";
import { wallets } from "./routes/wallets/routes.ts";
import { webhooks } from "./routes/webhooks/routes.ts";

const AREAS = [
  accessCodes,
  accounts,
  apiKeys,
  playbackKeys,
  auth,
  automationRules,
  billing,
  bundles,
  claimStatuses,
  community,
  checkout,
  customEmail,
  dataProviders,
  events,
  health,
  insights,
  invites,
  media,
  navigation,
  overlays,
  // Before pages, whose paths accept any id where these have fixed segments.
  channelTemplates,
  configurations,
  devices,
  pageContent,
  pages,
  panels,
  playlists,
  polls,
  quests,
  realtime,
  sites,
  streamProviders,
  streams,
  subscriptions,
  themes,
  userProfiles,
  videos,
  wallets,
  deliveries,
  webhooks,
];

/** The whole API. Imports nothing from the platform, so that the OpenAPI document can be emitted in plain Node. */
export function createApp(): OpenAPIHono<AppEnv> {
  const app = new OpenAPIHono<AppEnv>({
    strict: false,
    defaultHook: (result, c) => {
      if (!result.success) throw invalidInput(result.error, result.target, c.get("operation")?.input.invalidMessage);
    },
  });
  app.use(answer);
  app.options("*", cors({ origin: "*", allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"], maxAge: 86400 }));
  app.use(createFloodGuard());
  const respond = (c: Context<AppEnv>, failure: Failure) => (wantsSocket(c) ? rejectUpgrade(c, failure) : renderFailure(c, failure));
  app.onError((error, c) => respond(c, toFailure(error, c.get("operation")?.input.invalidMessage)));
  app.notFound((c) => respond(c, noSuchOperation(app, c.req.path)));
  for (const area of AREAS) app.route("/", area);
  return app;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A 405 that lists the path's methods if it has any, otherwise a 404. */
function noSuchOperation(app: OpenAPIHono<AppEnv>, path: string): Failure {
  const allowed = METHODS.filter((method) => app.router.match(method, path)[0].some(([[, route]]) => route.path !== "/*"));
  if (allowed.length === 0) return new Failure("not_found", "No such operation");
  return new Failure("method_not_allowed", `This path supports ${allowed.join(", ")}`, { headers: { Allow: allowed.join(", ") } });
}
