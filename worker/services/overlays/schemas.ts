import { z } from "@hono/zod-openapi";
import { OVERLAY_KINDS, OVERLAY_TYPES, POSITIONS } from "#db/enums.ts";
import type { BroadcastRow, OverlayRow } from "#db/schema/overlays.ts";
import type { OverlayContents } from "#db/types.ts";
import { FreeObject, Id, orNull, QueryBoolean, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { invalid } from "#worker/lib/errors.ts";
import { LAST_DATE } from "#worker/lib/hls/date-ranges.ts";
import { SegmentSlug } from "#worker/lib/segments.ts";
import { OverlayCta } from "#worker/lib/schemas/overlay-cta.ts";
import { GraphicAction } from "#worker/lib/schemas/graphic-element.ts";
import { KIT_TEMPLATES, KitKey } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { withoutSnapshots } from "#worker/services/graphics/elements.ts";
import { ownValueIssues } from "./kit/variables.ts";

export const Timecode = z
  .number()
  .min(0)
  .max(Math.floor(LAST_DATE / 1000));

export const Duration = z.number().int().min(1).max(86_400).describe("Seconds").openapi({ example: 8 });

export const Variables = z
  .record(z.string().max(100), z.union([z.string().max(10_000), z.number(), z.boolean()]))
  .refine((variables) => Object.keys(variables).length <= 100, "At most 100 variables")
  .describe("Values for `{{name}}` placeholders in html; they are escaped")
  .openapi({ example: { scorer: "Ada Moreno", minute: 17 } });

const instanceFields = {
  templateId: Id.optional().describe("For an instance: the template that it was created from"),
  variables: Variables.optional().describe(
    "For an instance, its values; for a template, the defaults. A broadcast can override them with values of the same types",
  ),
};

const instanceChannels = z
  .array(Id)
  .max(200)
  .optional()
  .describe("For an instance: the channels on which it may be shown; every channel if omitted");

const HtmlContent = z.strictObject({
  kind: z.literal("html"),
  html: z.string().min(1).max(65_536),
  position: z.enum(POSITIONS),
  channels: instanceChannels,
  ...instanceFields,
});

const FileUrl = z
  .union(
    [z.url({ protocol: /^https$/ }).max(2000), z.string().regex(/^\/media\/v1\/[0-9a-f]{24}$/)],
    "An https URL, or the url of an uploaded file",
  )
  .describe("URL of the file; defaults to that of the uploaded file");

const RiveContent = z.strictObject({
  kind: z.literal("rive"),
  mediaId: Id,
  fileName: z.string().min(1).max(200),
  position: z.enum(POSITIONS).default("center"),
  url: FileUrl.optional(),
  ...instanceFields,
});

const kitFields = {
  kind: z.literal("kit"),
  template: z.enum(KIT_TEMPLATES).describe("A template of the kit; `GET /overlay/v1/kit` lists their variables"),
  key: KitKey.optional().describe(
    "While one is shown, a broadcast with the same template and key updates it in place. Defaults to the overlay's id",
  ),
  channels: instanceChannels,
  ...instanceFields,
  variables: Variables.optional().describe(
    "Values of the template's variables; texts may contain `{{name}}` placeholders, whose defaults are here too. A broadcast fills in the placeholders, and can override the variables. An empty text leaves a variable out",
  ),
};

const KitContent = z.strictObject({ ...kitFields, position: z.enum(POSITIONS) });

const KitContentInput = z
  .strictObject({ ...kitFields, position: z.enum(POSITIONS).optional().describe("Defaults to the template's own") })
  .superRefine(({ template, variables = {} }, issues) => {
    for (const { path, message } of ownValueIssues(template, variables))
      issues.addIssue({ code: "custom", path: ["variables", path], message });
  });

const GraphicContent = z.strictObject({
  kind: z.literal("ograf"),
  graphic: Id.describe("An uploaded OGraf graphic of the site; it covers the whole video"),
  key: KitKey.optional().describe(
    "While one is shown, a broadcast with the same graphic and key updates it in place. Defaults to the overlay's id",
  ),
  position: z.enum(POSITIONS).default("bottomRight").describe("Where its buttons are"),
  channels: instanceChannels,
  templateId: instanceFields.templateId,
  variables: FreeObject.optional().describe(
    "The graphic's data, which must match its `schema`. A broadcast can override properties that are text, numbers or true and false",
  ),
});

const OverlayContentInput = z
  .discriminatedUnion("kind", [HtmlContent, RiveContent, KitContentInput, GraphicContent])
  .openapi("OverlayContentInput");
export const OverlayContent = z
  .discriminatedUnion("kind", [HtmlContent, RiveContent, KitContent, GraphicContent])
  .openapi("OverlayContent");

const editable = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Goal" }),
  description: z.string().max(2000).openapi({ example: "Home side scores" }),
  type: z.enum(OVERLAY_TYPES).describe("A template gets its variables from each broadcast; an instance has its own"),
  duration: Duration,
  cta: orNull(OverlayCta).optional(),
};

const elements = <Element extends z.ZodType>(element: Element) => z.array(element).min(1).max(8);

export const OverlayInput = z
  .strictObject({ siteId: Id.describe("Must equal Tifo-Client-Id"), ...editable, contents: elements(OverlayContentInput) })
  .openapi("OverlayInput", {
    example: {
      name: "Goal",
      description: "Home side scores",
      siteId: "5eed00000000000000000001",
      type: "template",
      duration: 8,
      contents: [
        {
          kind: "html",
          html: "<b>Goal!</b> {{scorer}}, {{minute}}'",
          position: "bottomCenter",
          variables: { scorer: "Harbour City", minute: 90 },
        },
      ],
    },
  });

export const Overlay = z
  .object({ _id: Id, siteId: Id, ...editable, contents: elements(OverlayContent), cta: orNull(OverlayCta), ...Tracked })
  .openapi("Overlay");

export const OverlayFilters = {
  type: z.enum(OVERLAY_TYPES).optional(),
  kind: z.enum(OVERLAY_KINDS).optional().describe("Only overlays with an element of this kind"),
};

export const OverlayQuery = z.strictObject({
  riveUrl: QueryBoolean.optional().describe("If `true`, each Rive element includes the URL of its file"),
});

export const TagId = z
  .string()
  .max(100)
  .regex(/^[A-Za-z-]+:[a-z0-9_-]+$/, "tagId must look like category:value")
  .openapi({ example: "team:home" });

export const BroadcastInput = z
  .strictObject({
    duration: Duration.optional().describe("Seconds; defaults to the overlay's own"),
    channelId: Id.optional(),
    channelIds: z.array(Id).min(1).max(50).optional(),
    variables: Variables.optional(),
    timecode: Timecode.optional().describe("Media time, in seconds, at which viewers show it"),
    tagId: TagId.optional().describe("Only viewers with this account tag"),
    segment: SegmentSlug.optional().describe(
      "Only viewers in this segment of the site (`settings.userSegments`); not together with `tagId`, which a segment can ask for itself",
    ),
    pageMetadata: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("Only channels with this value in one of external_field_1 to external_field_5"),
    priority: z
      .number()
      .int()
      .min(-100)
      .max(100)
      .default(0)
      .describe("If two overlays use the same position, the one with the higher priority is shown first"),
    actions: z
      .array(GraphicAction)
      .max(20)
      .optional()
      .describe("What the overlay's OGraf graphics do once they are shown or updated, in order"),
    broadcastPayload: FreeObject.optional().describe("Passed to the viewers' app unchanged"),
  })
  .refine(({ tagId, segment }) => tagId === undefined || segment === undefined, { path: ["segment"], message: "Not together with tagId" })
  .openapi("BroadcastInput", {
    example: { channelId: "5eed0000000000000000c001", duration: 8, variables: { scorer: "Ada Moreno", minute: 17 } },
  });

export const TagBroadcastInput = z
  .strictObject({
    duration: Duration.optional(),
    channelId: Id.optional().describe("Required for creators; if an admin or a developer key omits it, the broadcast is site-wide"),
    variables: Variables.optional(),
  })
  .openapi("TagBroadcastInput");

export const BroadcastAnswer = z
  .object({
    success: z.literal(true),
    broadcastId: Id.describe("The same on every channel; use it to clear the broadcast, even before it is shown"),
    broadcasts: z.array(
      z.object({
        broadcastId: Id,
        channelId: Id,
        seq: z.number().int().describe("Position in the channel's log"),
        startsAt: Time,
        endsAt: Time,
      }),
    ),
  })
  .openapi("BroadcastAnswer");

const Count = z.number().int().nonnegative();
const Delay = z.number().nullable().describe("Null until something is acknowledged; overestimated by at most 1/16");

const counts = {
  sockets: Count.describe("Open sockets in the audience when it was sent"),
  sent: Count.describe("Sockets that it was delivered to"),
  acknowledged: Count.describe("Sockets whose viewer acknowledged it; a lost acknowledgement counts as missing"),
  late: Count.describe("Viewers who connected or reconnected later and received it then"),
  missing: Count.describe("Sockets that have not acknowledged it"),
  delay: z
    .object({ p50: Delay, p95: Delay, p99: Delay })
    .describe("Milliseconds, by the server's clock, from the entry in the channel's log to the arrival of the acknowledgement"),
};

export const Receipt = z
  .object({
    broadcastId: Id,
    channelId: Id.nullable().describe("Null for a broadcast to several channels or the whole site"),
    seq: z.number().int().nullable().describe("Position in the channel's log"),
    ...counts,
    seen: z
      .number()
      .int()
      .nullable()
      .describe(
        "How often viewers reported that its overlay was on screen, up to a minute ago; null if none did. Not every viewer reports",
      ),
    channels: z.array(z.object({ channelId: Id, seq: z.number().int(), ...counts })).describe("The same counts for each channel"),
  })
  .openapi("BroadcastReceipt");

export const ClearQuery = z.strictObject({
  timecode: QueryBoolean.optional().describe("Set to `true`, together with `id`, to clear one timecode instance"),
  id: Id.optional(),
});

export const ClearInput = z.strictObject({ channelId: Id.optional(), broadcastId: Id.optional() }).openapi("ClearInput");

/** Resolves the target of a clear call. `timecode=true` and `id` require each other: with only one, the call would clear everything. */
export function clearTarget({ timecode = false, id }: z.output<typeof ClearQuery>, body: z.output<typeof ClearInput>, targetId?: string) {
  if (timecode !== (id !== undefined)) throw invalid("id", "Must be used together with timecode=true");
  if (targetId !== undefined && body.channelId !== undefined && body.channelId !== targetId)
    throw invalid("channelId", "Must equal the channel of the path");
  const { channelId = targetId, broadcastId = id } = body;
  if (id !== undefined && broadcastId !== id) throw invalid("broadcastId", "Must equal the id of the query");
  return { channelId, broadcastId };
}

export const ClearAnswer = z
  .object({
    success: z.literal(true),
    cleared: z.array(z.object({ channelId: Id, seq: z.number().int(), broadcastIds: z.array(z.string()) })),
  })
  .openapi("ClearAnswer");

export const ActiveBroadcast = z
  .object({
    broadcastId: Id,
    overlayId: Id,
    channelId: Id.nullable().describe("Null for every channel of the site"),
    except: z.array(Id).describe("For a site-wide broadcast: the channels on which it was cleared"),
    tagId: z.string().nullable(),
    segment: z.string().nullable().describe("The slug of the segment that it was sent to; null for all viewers"),
    timecode: z.number().nullable(),
    startsAt: Time,
    endsAt: Time,
  })
  .openapi("ActiveBroadcast");

const KitSize = z.object({
  stageWidth: z.number().int(),
  stageHeight: z.number().int(),
  maxWidth: z.number().int().describe("The most that it takes of such a stage, in pixels, whatever its variables"),
  maxHeight: z.number().int(),
});

export const KitTemplate = z
  .object({
    name: z.enum(KIT_TEMPLATES),
    title: z.string(),
    description: z.string(),
    position: z.enum(POSITIONS).describe("Where it is shown unless the overlay says otherwise"),
    variables: z.record(z.string(), z.unknown()).describe("JSON Schema of its variables"),
    sizes: z.array(KitSize),
    sample: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).describe("Variables to try it with"),
  })
  .openapi("KitTemplate");

export const Kit = z.object({ templates: z.array(KitTemplate) }).openapi("Kit");

export type OverlayInput = z.output<typeof OverlayInput>;
export type BroadcastInput = z.output<typeof BroadcastInput>;

export function toOverlay(row: OverlayRow, contents: OverlayContents = row.contents) {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    description: row.description,
    type: row.type,
    duration: row.duration,
    contents: withoutSnapshots(contents),
    cta: row.cta,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Overlay>;
}

export function toActiveBroadcast(row: BroadcastRow & { except: string[] }) {
  return {
    broadcastId: row.id,
    overlayId: row.overlayId,
    channelId: row.channelId === "" ? null : row.channelId,
    except: row.except,
    tagId: row.tag,
    segment: row.segment,
    timecode: row.timecode,
    startsAt: row.startsAt,
    endsAt: row.endsAt,
  } satisfies z.output<typeof ActiveBroadcast>;
}
