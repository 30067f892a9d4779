import { and, eq, or, type SQL, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { type OverlayRow, overlays, pages, type RuleRow } from "#db/schema/index.ts";
import type { RuleTargeting, SendOverlay } from "#db/types.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { Failure } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { bound, RuleProblem } from "./rule-engine.ts";
import { TagId } from "#worker/services/overlays/schemas.ts";
import type { ProviderEventMessage } from "./automation.ts";
import { type BroadcastEvent, makeBroadcast } from "#worker/services/overlays/broadcasts.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { requireVariables } from "#worker/services/overlays/overlays.ts";

/** A rule that an event made fire; `due` in milliseconds since 1970 UTC. */
export interface RuleFiring {
  rule: RuleRow;
  event: ProviderEventMessage;
  due: number;
}

/** What a firing comes to: exactly what is sent or made, and what of it can't be. */
export type Plan =
  | { kind: "broadcast"; event: BroadcastEvent; message: string | null }
  | { kind: "channel"; id: string; name: string; slug: string }
  | { kind: "problem"; message: string };

/** What a firing asks for, before anything was looked up. */
type Wish =
  | { kind: "overlay"; action: SendOverlay; reach: Reach; variables: Variables; tags: string[] | undefined; timecode: number | undefined }
  | { kind: "channel"; name: string };
type Variables = Record<string, string | number | boolean>;
/** Which channels are meant: those of these ids, those with this text in their metadata, or all. */
type Reach = { ids: string[] } | { metadata: string } | "all";

interface Found {
  templates: Map<string, OverlayRow>;
  channels: { id: string; texts: (string | null)[] }[];
}

const Text = z.string().trim().min(1).max(500);
const ChannelIds = z.union([z.string().transform((id) => [id]), z.array(z.string()).min(1).max(50)]);
const Texts = z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String).nullable());

/**
 * Works out what firings come to, all with one look at the database. The ids of what is made follow from event and rule, and its times
 * from the firing, so that the same firing always comes to the same.
 */
export async function planFirings(ctx: Ctx, firings: RuleFiring[]): Promise<Plan[]> {
  const wishes = firings.map((firing) => attempt(() => wishOf(firing)));
  const found = await lookUp(ctx, wishes);
  return Promise.all(
    wishes.map(async (wish, index): Promise<Plan> => {
      const firing = firings[index];
      if (!firing || "problem" in wish) return { kind: "problem", message: "problem" in wish ? wish.problem : "" };
      const id = await derivedId(firing);
      const plan = attempt(() => planOf(firing, id, wish.value, found));
      return "problem" in plan ? { kind: "problem", message: plan.problem } : plan.value;
    }),
  );
}

/** The id of what a firing makes: of the event's time, like any id, and otherwise a hash of event and rule. */
async function derivedId({ event, rule }: RuleFiring): Promise<string> {
  return event.id.slice(0, 12) + (await sha256(`${event.id}:${rule.id}`)).slice(0, 12);
}

/** A rule's own failure is its answer; any other error is ours. */
function attempt<T>(work: () => T): { value: T } | { problem: string } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof RuleProblem || error instanceof Failure) return { problem: error.message };
    throw error;
  }
}

function wishOf({ rule, event: { data } }: RuleFiring): Wish {
  const { action } = rule.jsonRule;
  if (action.type === "CREATE_CHANNEL") {
    return { kind: "channel", name: checked(Text.max(200), bound(action.name, data), "The channel's name") };
  }
  const { targeting, variableMapping, timecodeMapping } = action;
  return {
    kind: "overlay",
    action,
    reach: reachOf(rule, targeting, data),
    variables: Object.fromEntries(Object.entries(variableMapping).map(([name, mapped]) => [name, scalar(name, bound(mapped, data))])),
    tags: targeting.segment === "viewers_all" ? undefined : (targeting.tags ?? []).map((tag) => checked(TagId, bound(tag, data), "A tag")),
    timecode: timecodeMapping && checked(z.number().min(0), bound(timecodeMapping, data), "The timecode"),
  };
}

function reachOf(rule: RuleRow, { scope, target }: RuleTargeting, data: unknown): Reach {
  switch (scope) {
    case "all_channels":
      return "all";
    case "channel":
      if (rule.channelId === null) throw new RuleProblem("The rule has no channel");
      return { ids: [rule.channelId] };
    case "specific_channels":
      return { ids: checked(ChannelIds, target && bound(target, data), "The target") };
    case "channel_metadata":
      return { metadata: checked(z.coerce.string().pipe(Text), target && bound(target, data), "The target") };
  }
}

function scalar(name: string, value: unknown): string | number | boolean {
  if (typeof value === "string") return value.slice(0, 10_000);
  if (typeof value === "number" || typeof value === "boolean") return value;
  throw new RuleProblem(`The variable ${name} is neither text nor number nor boolean`);
}

function checked<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value);
  if (!result.success) throw new RuleProblem(`${what} can't be ${JSON.stringify(value)?.slice(0, 100) ?? "nothing"}`);
  return result.data;
}

const EXTERNAL_FIELDS = sql.raw([1, 2, 3, 4, 5].map((field) => `json_extract(pages.data, '$.external_field_${field}')`).join(", "));

function hasText(texts: string[]): SQL {
  const wanted = sql`(select value from json_each(${JSON.stringify(texts)}))`;
  return sql`exists (select 1 from json_each(json_array(${EXTERNAL_FIELDS})) as field where field.value in ${wanted})`;
}

/** The templates and channels that the wishes name, in one round trip. */
async function lookUp(ctx: Ctx, wishes: ({ value: Wish } | { problem: string })[]): Promise<Found> {
  const wanted = wishes.flatMap((wish) => ("value" in wish && wish.value.kind === "overlay" ? [wish.value] : []));
  if (wanted.length === 0) return { templates: new Map(), channels: [] };
  const ids = wanted.flatMap(({ reach }) => (typeof reach === "object" && "ids" in reach ? reach.ids : []));
  const metadata = wanted.flatMap(({ reach }) => (typeof reach === "object" && "metadata" in reach ? [reach.metadata] : []));
  const [templates, channels] = await ctx.db.batch([
    ctx.db
      .select()
      .from(overlays)
      .where(
        and(
          eq(overlays.siteId, ctx.siteId),
          idIn(
            overlays.id,
            wanted.map(({ action }) => action.templateId),
          ),
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
  ]);
  return {
    templates: new Map(templates.map((template) => [template.id, template])),
    channels: channels.map(({ id, texts }) => ({ id, texts: Texts.parse(JSON.parse(texts)) })),
  };
}

function planOf({ due }: RuleFiring, id: string, wish: Wish, found: Found): Plan {
  if (wish.kind === "channel") return { kind: "channel", id, name: wish.name, slug: slugOf(wish.name, id) };
  const { action, reach, variables, tags, timecode } = wish;
  const template = found.templates.get(action.templateId);
  if (template?.type !== "template") throw new RuleProblem("The site has no such template");
  requireVariables(template.contents, variables);
  const { priority } = action.targeting;
  const broadcast = makeBroadcast(id, due, template, {
    variables,
    tags: tags && [...new Set(tags)],
    timecode,
    priority,
    broadcastPayload: action.broadcastPayload,
  });
  return { kind: "broadcast", event: { channelIds: channelsOf(reach, found), broadcast }, message: missingOf(reach, found) };
}

function channelsOf(reach: Reach, { channels }: Found): string[] | null {
  if (reach === "all") return null;
  const matching = channels.filter(({ id, texts }) => ("ids" in reach ? reach.ids.includes(id) : texts.includes(reach.metadata)));
  if (matching.length === 0) throw new RuleProblem("The site has no such channel");
  return matching.map(({ id }) => id);
}

/** Which of the channels that are named one by one aren't there; the others get what is sent. */
function missingOf(reach: Reach, { channels }: Found): string | null {
  const ids = typeof reach === "object" && "ids" in reach ? reach.ids : [];
  const missing = ids.filter((id) => !channels.some((channel) => channel.id === id));
  if (missing.length === 0) return null;
  return `The site has no channel ${missing.map((id) => (ID_PATTERN.test(id) ? id : "of such an id")).join(", ")}`;
}

/** A readable address that no other channel has. */
function slugOf(name: string, id: string): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return [words, id.slice(-8)].filter((part) => part !== "").join("-");
}
