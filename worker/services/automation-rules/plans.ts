import { and, eq, or, type SQL, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import type { RuleRow } from "#db/schema/automation-rules.ts";
import { type OverlayRow, overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { polls } from "#db/schema/engagement/polls.ts";
import type { RuleTargeting, SendOverlay } from "#db/types.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { Failure } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { resolveBinding, RuleError } from "./rule-engine.ts";
import { TagId, Timecode } from "#worker/services/overlays/schemas.ts";
import type { ProviderEventMessage } from "./schemas.ts";
import type { BroadcastEvent } from "#worker/services/overlays/broadcasts.ts";
import { buildBroadcast } from "#worker/services/overlays/build-broadcast.ts";
import { type Ctx, ownRows } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { newPollsOf } from "#worker/services/overlays/kit/variables.ts";
import { requireVariables } from "#worker/services/overlays/overlays.ts";
import { clip } from "#worker/lib/well-formed.ts";

/** A rule fired by an event; `due` is in epoch milliseconds. */
export interface RuleFiring {
  rule: RuleRow;
  event: ProviderEventMessage;
  due: number;
}

/** The outcome of a firing: what exactly to send or create, or why it fails. */
export type Plan =
  | { kind: "broadcast"; event: BroadcastEvent; message: string | null }
  | { kind: "channel"; id: string; name: string; slug: string }
  | { kind: "lock"; pollId: string }
  | { kind: "problem"; message: string }
  | { kind: "paused" };

/** What a firing requests, before templates and channels are read. */
type FiringRequest =
  | { kind: "overlay"; action: SendOverlay; reach: Reach; variables: Variables; tags: string[] | undefined; timecode: number | undefined }
  | { kind: "channel"; name: string }
  | { kind: "lock"; pollId: string };
type Variables = Record<string, string | number | boolean>;
/** The targeted channels: by id, by a text in their metadata, or all. */
type Reach = { ids: string[] } | { metadata: string } | "all";

interface Found {
  templates: Map<string, OverlayRow>;
  channels: { id: string; texts: (string | null)[] }[];
  /** Ids of the site's polls among the values of variables. */
  polls: ReadonlySet<string>;
  /** Ids of the site's channels, if some of them are left out of what is for all. */
  all: string[];
}

export const PAUSED = "The rules of the channel are paused";

const Text = z.string().trim().min(1).max(500);
const ChannelIds = z.union([z.string().transform((id) => [id]), z.array(z.string()).min(1).max(50)]);
const Texts = z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String).nullable());

/**
 * Plans firings with one round trip to the database. Ids are derived from event and rule, and times from the firing, so that the same
 * firing always gives the same plan, except for the channels whose rules are paused.
 */
export async function planFirings(ctx: Ctx, firings: RuleFiring[], paused: ReadonlySet<string> = new Set()): Promise<Plan[]> {
  const requests = firings.map((firing) => attempt(() => requestOf(firing)));
  const found = await lookUp(ctx, requests, paused);
  return Promise.all(
    requests.map(async (request, index): Promise<Plan> => {
      const firing = firings[index];
      if (firing && paused.has(firing.rule.channelId ?? "")) return { kind: "paused" };
      if (!firing || "problem" in request) return { kind: "problem", message: "problem" in request ? request.problem : "" };
      const id = await derivedId(firing);
      const plan = attempt(() => planOf(firing, id, request.value, found, paused));
      return "problem" in plan ? { kind: "problem", message: plan.problem } : plan.value;
    }),
  );
}

/** The id of what a firing creates: the event's time, like any id, followed by a hash of event and rule. */
async function derivedId({ event, rule }: RuleFiring): Promise<string> {
  return event.id.slice(0, 12) + (await sha256(`${event.id}:${rule.id}`)).slice(0, 12);
}

/** Returns the rule's own error as a problem; rethrows any other error. */
function attempt<T>(work: () => T): { value: T } | { problem: string } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof RuleError || error instanceof Failure) return { problem: error.message };
    throw error;
  }
}

function requestOf({ rule, event: { data } }: RuleFiring): FiringRequest {
  const { action } = rule.jsonRule;
  if (action.type === "CREATE_CHANNEL") {
    return { kind: "channel", name: checked(Text.max(200), resolveBinding(action.name, data), "The channel's name") };
  }
  if (action.type === "LOCK_POLL") return { kind: "lock", pollId: action.pollId };
  const { targeting, variableMapping, timecodeMapping } = action;
  return {
    kind: "overlay",
    action,
    reach: reachOf(rule, targeting, data),
    variables: Object.fromEntries(
      Object.entries(variableMapping).map(([name, mapped]) => [name, scalar(name, resolveBinding(mapped, data))]),
    ),
    tags:
      targeting.segment !== "viewers_with_tags"
        ? undefined
        : (targeting.tags ?? []).map((tag) => checked(TagId, resolveBinding(tag, data), "A tag")),
    timecode: timecodeMapping && checked(Timecode, resolveBinding(timecodeMapping, data), "The timecode"),
  };
}

function reachOf(rule: RuleRow, { scope, target }: RuleTargeting, data: unknown): Reach {
  switch (scope) {
    case "all_channels":
      return "all";
    case "channel":
      if (rule.channelId === null) throw new RuleError("The rule has no channel");
      return { ids: [rule.channelId] };
    case "specific_channels":
      return { ids: checked(ChannelIds, target && resolveBinding(target, data), "The target") };
    case "channel_metadata":
      return { metadata: checked(z.coerce.string().pipe(Text), target && resolveBinding(target, data), "The target") };
  }
}

function scalar(name: string, value: unknown): string | number | boolean {
  if (typeof value === "string") return clip(value, 10_000);
  if (typeof value === "number" || typeof value === "boolean") return value;
  throw new RuleError(`The variable ${name} must be a string, number or boolean`);
}

function checked<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value);
  if (!result.success) throw new RuleError(`${what} can't be ${clip(JSON.stringify(value) ?? "nothing", 100)}`);
  return result.data;
}

const EXTERNAL_FIELDS = sql.raw([1, 2, 3, 4, 5].map((field) => `json_extract(pages.data, '$.external_field_${field}')`).join(", "));

function hasText(texts: string[]): SQL {
  const wanted = sql`(select value from json_each(${JSON.stringify(texts)}))`;
  return sql`exists (select 1 from json_each(json_array(${EXTERNAL_FIELDS})) as field where field.value in ${wanted})`;
}

/** Reads the templates and channels of the requests in one round trip. */
async function lookUp(ctx: Ctx, requests: ({ value: FiringRequest } | { problem: string })[], paused: ReadonlySet<string>): Promise<Found> {
  const wanted = requests.flatMap((request) => ("value" in request && request.value.kind === "overlay" ? [request.value] : []));
  if (wanted.length === 0) return { templates: new Map(), channels: [], polls: new Set(), all: [] };
  const ids = wanted.flatMap(({ reach }) => (typeof reach === "object" && "ids" in reach ? reach.ids : []));
  const metadata = wanted.flatMap(({ reach }) => (typeof reach === "object" && "metadata" in reach ? [reach.metadata] : []));
  const values = wanted.flatMap(({ variables }) => Object.values(variables));
  const mayBePolls = [...new Set(values)].filter((value) => typeof value === "string").filter((value) => ID_PATTERN.test(value));
  // Without a pause, what is for all channels is sent once, for the site.
  const expandsAll = paused.size > 0 && wanted.some(({ reach }) => reach === "all");
  const [templates, channels, knownPolls, all] = await ctx.db.batch([
    ctx.db
      .select()
      .from(overlays)
      .where(
        ownRows(
          ctx,
          overlays,
          wanted.map(({ action }) => action.templateId),
        ),
      ),
    ctx.db
      .select({ id: pages.id, texts: sql<string>`json_array(${EXTERNAL_FIELDS})`.as("texts") })
      .from(pages)
      .where(
        and(
          eq(pages.siteId, ctx.siteId),
          eq(pages.type, "channel"),
          or(idIn(pages.id, ids), metadata.length > 0 ? hasText(metadata) : undefined),
        ),
      ),
    ctx.db
      .select({ id: polls.id })
      .from(polls)
      .where(ownRows(ctx, polls, mayBePolls)),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(eq(pages.siteId, expandsAll ? ctx.siteId : ""), eq(pages.type, "channel"))),
  ]);
  return {
    templates: new Map(templates.map((template) => [template.id, template])),
    channels: channels.map(({ id, texts }) => ({ id, texts: Texts.parse(JSON.parse(texts)) })),
    polls: new Set(knownPolls.map(({ id }) => id)),
    all: all.map(({ id }) => id),
  };
}

function planOf({ due }: RuleFiring, id: string, request: FiringRequest, found: Found, paused: ReadonlySet<string>): Plan {
  if (request.kind === "channel") return { kind: "channel", id, name: request.name, slug: slugOf(request.name, id) };
  if (request.kind === "lock") return request;
  const { action, reach, variables, tags, timecode } = request;
  const template = found.templates.get(action.templateId);
  if (template?.type !== "template") throw new RuleError("The site has no such template");
  requireVariables(template.contents, variables);
  const { priority, userSegment } = action.targeting;
  const broadcast = buildBroadcast(id, due, template, {
    variables,
    tags: tags && [...new Set(tags)],
    userSegment,
    timecode,
    priority,
    broadcastPayload: action.broadcastPayload,
  });
  if (newPollsOf(broadcast, template.contents).some((pollId) => !found.polls.has(pollId))) throw new RuleError("The site has no such poll");
  const targets = channelsOf(reach, found);
  if (targets === null && paused.size === 0) return { kind: "broadcast", event: { channelIds: null, broadcast }, message: null };
  const channelIds = (targets ?? found.all).filter((channelId) => !paused.has(channelId));
  return channelIds.length === 0
    ? { kind: "paused" }
    : { kind: "broadcast", event: { channelIds, broadcast }, message: leftOut(reach, found, targets ?? [...paused], paused) };
}

/** A message that names the target channels that don't get the broadcast, and why. */
function leftOut(reach: Reach, found: Found, targets: string[], paused: ReadonlySet<string>): string | null {
  const silent = targets.filter((channelId) => paused.has(channelId));
  const messages = [missingChannels(reach, found), silent.length === 0 ? null : `Paused on ${silent.join(", ")}`];
  return messages.filter((message) => message !== null).join(". ") || null;
}

function channelsOf(reach: Reach, { channels }: Found): string[] | null {
  if (reach === "all") return null;
  const matching = channels.filter(({ id, texts }) => ("ids" in reach ? reach.ids.includes(id) : texts.includes(reach.metadata)));
  if (matching.length === 0) throw new RuleError("The site has no such channel");
  return matching.map(({ id }) => id);
}

/** A message that names the target channels that don't exist; the others receive the broadcast. */
function missingChannels(reach: Reach, { channels }: Found): string | null {
  const ids = typeof reach === "object" && "ids" in reach ? reach.ids : [];
  const missing = ids.filter((id) => !channels.some((channel) => channel.id === id));
  if (missing.length === 0) return null;
  return `The site has no channel ${missing.map((id) => (ID_PATTERN.test(id) ? id : "with an invalid id")).join(", ")}`;
}

/** A readable, unique slug. */
function slugOf(name: string, id: string): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return [words, id.slice(-8)].filter((part) => part !== "").join("-");
}
