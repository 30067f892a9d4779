import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, Id, IdParam, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { broadcastOverlay, clearBroadcasts, listBroadcasts } from "#worker/services/overlays/broadcasts.ts";
import { listKit } from "#worker/services/overlays/kit/catalogue.ts";
import {
  createOverlay,
  deleteOverlay,
  listOverlays,
  readOverlay,
  updateOverlay,
  withRiveUrls,
} from "#worker/services/overlays/overlays.ts";
import { getReceipt } from "#worker/services/overlays/receipts.ts";
import { retractBroadcast } from "#worker/services/overlays/retractions.ts";
import {
  ActiveBroadcast,
  BroadcastAnswer,
  BroadcastInput,
  ClearAnswer,
  ClearInput,
  ClearQuery,
  clearTarget,
  Kit,
  Overlay,
  OverlayFilters,
  OverlayInput,
  OverlayQuery,
  Receipt,
  TagBroadcastInput,
  TagId,
  toActiveBroadcast,
  toOverlay,
} from "#worker/services/overlays/schemas.ts";

export const overlays = createArea();
const tag = "Overlays";

overlays.openapi(
  operation({
    operationId: "listOverlays",
    tag,
    method: "get",
    path: "/overlay/v1",
    summary: "List overlays",
    description: "The site's templates and instances, newest first. Creators get those that can be shown on their channels.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { query: listQuery(["created", "modified", "name"], OverlayFilters) },
    responses: { 200: json("A page of overlays", listOf(Overlay).openapi("OverlayList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listOverlays(c.get("ctx"), query), toOverlay), 200);
  },
);

overlays.openapi(
  operation({
    operationId: "createOverlay",
    tag,
    method: "post",
    path: "/overlay/v1",
    summary: "Create an overlay",
    description:
      "Creates a template, which gets its variables from each broadcast, or an instance, which has its own. Nothing is shown until you broadcast it.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(OverlayInput) },
    responses: { 201: json("The overlay", Overlay) },
  }),
  async (c) => {
    const overlay = await createOverlay(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, overlay);
    return c.json(toOverlay(overlay), 201);
  },
);

overlays.openapi(
  operation({
    operationId: "listKit",
    tag,
    method: "get",
    path: "/overlay/v1/kit",
    summary: "List the kit's templates",
    description:
      'The designed templates for elements with `kind: "kit"`: the JSON Schema of their variables, their sizes, and variables to try them with.',
    access: { credentials: CLIENT },
    request: {},
    responses: { 200: json("The templates", Kit) },
  }),
  (c) => c.json({ templates: listKit() }, 200),
);

overlays.openapi(
  operation({
    operationId: "listBroadcasts",
    tag,
    method: "get",
    path: "/overlay/v1/broadcasts",
    summary: "List active broadcasts",
    description:
      "The active broadcasts, per channel. A site-wide broadcast has no channelId and lists the channels on which it was cleared.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: listQuery(["startsAt", "endsAt"], { channelId: Id.optional() }) },
    responses: { 200: json("A page of broadcasts", listOf(ActiveBroadcast).openapi("ActiveBroadcastList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listBroadcasts(c.get("ctx"), query), toActiveBroadcast), 200);
  },
);

overlays.openapi(
  operation({
    operationId: "getReceipt",
    tag,
    method: "get",
    path: "/overlay/v1/broadcasts/{broadcastId}/receipt",
    summary: "Get a broadcast's receipt",
    description:
      "How many viewers a broadcast was sent to, how many have acknowledged it and how quickly, and how many received it late. Counts are live and available until a day after the broadcast ends.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: z.object({ broadcastId: Id }) },
    responses: { 200: json("The receipt", Receipt) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json((await getReceipt(c.get("ctx"), c.req.valid("param").broadcastId)) satisfies z.output<typeof Receipt>, 200),
);

overlays.openapi(
  operation({
    operationId: "broadcastOverlay",
    tag,
    method: "post",
    path: "/overlay/v1/broadcast/{id}",
    summary: "Broadcast an overlay",
    description:
      "Shows the overlay on the channels that you list or match by metadata; otherwise on its own channels, or site-wide. An instance that lists channels can't be shown on others: listing another one is a 400. A success response means that the broadcast is in every channel's log: a viewer who is disconnected receives it on reconnecting.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: IdParam, body: jsonBody(BroadcastInput) },
    responses: { 200: json("Its position in each channel's log", BroadcastAnswer) },
    errors: ["not_found"],
  }),
  async (c) => {
    const sent = await broadcastOverlay(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    return c.json({ success: true as const, ...sent }, 200);
  },
);

overlays.openapi(
  operation({
    operationId: "broadcastOverlayToTag",
    tag,
    method: "post",
    path: "/overlay/v1/broadcast/{id}/tag/{tagId}",
    summary: "Broadcast an overlay to a tag",
    description:
      "Shows the overlay to viewers whose account has the tag (`category:value`). Creators must specify one of their channels; admins and developer keys can omit it to address the whole site.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: z.object({ id: Id, tagId: TagId }), body: jsonBody(TagBroadcastInput) },
    responses: { 200: json("Its position in each channel's log", BroadcastAnswer) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { id, tagId } = c.req.valid("param");
    const sent = await broadcastOverlay(c.get("ctx"), id, { ...c.req.valid("json"), tagId, priority: 0 });
    return c.json({ success: true as const, ...sent }, 200);
  },
);

overlays.openapi(
  operation({
    operationId: "clearBroadcasts",
    tag,
    method: "post",
    path: "/overlay/v1/clear-broadcast",
    summary: "Clear broadcasts",
    description:
      "Clears active broadcasts: one (`broadcastId`, or `timecode=true` with `id`), all of a channel (`channelId`), or all of the site. A broadcast with a timecode can be cleared until 60 seconds after it ends, because viewers whose playback is behind may not have shown it yet.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    limit: { name: "broadcast", withFirstRead: true },
    request: { query: ClearQuery, body: optionalJsonBody(ClearInput) },
    responses: { 200: json("What was cleared, per channel", ClearAnswer) },
    errors: ["not_found"],
  }),
  async (c) => {
    const cleared = await clearBroadcasts(c.get("ctx"), clearTarget(c.req.valid("query"), c.req.valid("json")));
    return c.json({ success: true as const, cleared }, 200);
  },
);

overlays.openapi(
  operation({
    operationId: "clearChannelBroadcasts",
    tag,
    method: "post",
    path: "/overlay/v1/clear-broadcast/{targetId}",
    summary: "Clear a channel's broadcasts",
    description: "Clears all active broadcasts of one channel, or one of them.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: z.object({ targetId: Id.describe("A channel") }), query: ClearQuery, body: optionalJsonBody(ClearInput) },
    responses: { 200: json("What was cleared", ClearAnswer) },
    errors: ["not_found"],
  }),
  async (c) => {
    const target = clearTarget(c.req.valid("query"), c.req.valid("json"), c.req.valid("param").targetId);
    return c.json({ success: true as const, cleared: await clearBroadcasts(c.get("ctx"), target) }, 200);
  },
);

overlays.openapi(
  operation({
    operationId: "retractBroadcast",
    tag,
    method: "delete",
    path: "/overlay/v1/channels/{channelId}/broadcasts/{broadcastId}",
    summary: "Retract a broadcast",
    description:
      "Removes a broadcast that was a mistake from one channel for good: from the screens if it is still on, from what viewers who go back in a live stream see, and from the channel's [recording](/docs/api-reference/readRecording), whenever it was sent. Cached pages of the recording contain it for up to 5 seconds. A site-wide broadcast stays on the other channels.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: z.object({ channelId: Id, broadcastId: Id }) },
    responses: { 204: { description: "Retracted" } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { channelId, broadcastId } = c.req.valid("param");
    await retractBroadcast(c.get("ctx"), channelId, broadcastId);
    return c.body(null, 204);
  },
);

overlays.openapi(
  operation({
    operationId: "getOverlay",
    tag,
    method: "get",
    path: "/overlay/v1/{id}",
    summary: "Get an overlay",
    description:
      "Returns one overlay, to creators if it can be shown on one of their channels. With `riveUrl=true`, each Rive element includes the URL of its file.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam, query: OverlayQuery },
    responses: { 200: json("The overlay", Overlay) },
    errors: ["not_found"],
  }),
  async (c) => {
    const overlay = await readOverlay(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, overlay);
    return c.json(toOverlay(overlay, c.req.valid("query").riveUrl ? withRiveUrls(overlay.contents) : overlay.contents), 200);
  },
);

overlays.openapi(
  operation({
    operationId: "updateOverlay",
    tag,
    method: "put",
    path: "/overlay/v1/{id}",
    summary: "Update an overlay",
    description: "Replaces the overlay. Active broadcasts are not affected.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(OverlayInput) },
    responses: { 200: json("The updated overlay", Overlay) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const overlay = await updateOverlay(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, overlay);
    return c.json(toOverlay(overlay), 200);
  },
);

overlays.openapi(
  operation({
    operationId: "deleteOverlay",
    tag,
    method: "delete",
    path: "/overlay/v1/{id}",
    summary: "Delete an overlay",
    description: "Deletes the overlay. Its active broadcasts run to their end unless you clear them; scheduled ones are cancelled.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteOverlay(c.get("ctx"), c.req.valid("param").id)), 200),
);
