import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT, DEVICE } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { seesUrls } from "#worker/services/videos/gated-videos.ts";
import { recordView, totalViews, totalViewsOf } from "#worker/services/videos/views.ts";
import {
  createVideo,
  createVod,
  deleteVideo,
  getVideo,
  listLivestreams,
  listVideos,
  lookUpVideo,
  updateLiveMetadata,
  updateVideo,
} from "#worker/services/videos/videos.ts";
import {
  LiveBroadcastParam,
  LiveMetadata,
  LivestreamQuery,
  MetadataQuery,
  type ReadVideo,
  TotalViews,
  toPublicVideo,
  toVideo,
  Video,
  VideoIdsParam,
  VideoInput,
  VideoMetadata,
  VideoPatch,
  VideoQuery,
  VideoTotalViews,
  VodInput,
} from "#worker/services/videos/schemas.ts";

export const videos = createArea();
const tag = "Videos";
const VideoList = listOf(Video).openapi("VideoList");
const reading = { tag, access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" } } as const;
const urls = "The URL of a [gated](/guides/protect-video) video is null, except for developer keys and site admins.";

/** A gate changes the response without changing the row, so it is part of the ETag. */
async function tagVideo(c: Context<AppEnv>, row: ReadVideo, { gated, url }: z.output<typeof Video>): Promise<void> {
  if (gated) await tagVersionOf(c, row, url === null ? "gated, without its URL" : "gated");
  else tagVersion(c, row);
}

/** The serialiser for this caller. */
async function serialiser(c: Context<AppEnv>): Promise<(row: ReadVideo) => z.output<typeof Video>> {
  return (await seesUrls(c.get("ctx"))) ? toVideo : toPublicVideo;
}

videos.openapi(
  operation({
    ...reading,
    operationId: "listVideos",
    method: "get",
    path: "/video/v3",
    summary: "List videos",
    description: `The site's videos, last changed first, filtered by any of their properties. ${urls}`,
    request: { query: VideoQuery },
    responses: { 200: json("A page of videos", VideoList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listVideos(c.get("ctx"), query);
    return c.json(listResponse(c.req.url, query, page, await serialiser(c)), 200);
  },
);

videos.openapi(
  operation({
    operationId: "createVideo",
    tag,
    method: "post",
    path: "/video/v3",
    summary: "Add a video",
    description: "Adds a recording or livestream from any player. A complete recording publishes `admin.vodReady`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(VideoInput) },
    responses: { 201: json("The video", Video) },
  }),
  async (c) => {
    const video = await createVideo(c.get("ctx"), c.req.valid("json"));
    const shown = toVideo(video);
    await tagVideo(c, video, shown);
    return c.json(shown, 201);
  },
);

videos.openapi(
  operation({
    operationId: "getVideoMetadata",
    tag,
    method: "get",
    path: "/video/v3/metadata",
    summary: "Look up a video at its player",
    description:
      "Fetches a video's title, thumbnail and other metadata from its player, ready for adding the video. Supports youtube, vimeo, dailymotion, soundcloud and mixcloud.",
    access: { credentials: CLIENT },
    limit: { name: "lookUpVideo" },
    request: { query: MetadataQuery },
    responses: { 200: json("The metadata", VideoMetadata) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json(await lookUpVideo(c.get("ctx"), c.req.valid("query").url), 200),
);

videos.openapi(
  operation({
    ...reading,
    operationId: "listLivestreams",
    method: "get",
    path: "/video/v3/livestreams",
    summary: "List livestreams",
    description: `The site's videos of type livestream, last changed first. ${urls}`,
    request: { query: LivestreamQuery },
    responses: { 200: json("A page of livestreams", VideoList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listLivestreams(c.get("ctx"), query);
    return c.json(listResponse(c.req.url, query, page, await serialiser(c)), 200);
  },
);

videos.openapi(
  operation({
    operationId: "createVod",
    tag,
    method: "post",
    path: "/video/v3/vod",
    summary: "Add a stream's recording",
    description:
      "Adds the recording of one of the site's streams, with the stream's title and image by default. Send the `vod` object from the event of a stopped stream, with the recording's URL.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { body: jsonBody(VodInput) },
    responses: { 201: json("The video", Video) },
  }),
  async (c) => {
    const video = await createVod(c.get("ctx"), c.req.valid("json"));
    const shown = toVideo(video);
    await tagVideo(c, video, shown);
    return c.json(shown, 201);
  },
);

videos.openapi(
  operation({
    operationId: "updateLiveMetadata",
    tag,
    method: "post",
    path: "/video/v3/metadata/{liveBroadcastId}",
    summary: "Change a livestream's metadata",
    description: "Changes the title and thumbnail of the livestream with this `liveBroadcastId`; if there are several, the newest.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: LiveBroadcastParam, body: jsonBody(LiveMetadata) },
    responses: { 200: json("The livestream as it is now", Video) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const video = await updateLiveMetadata(c.get("ctx"), c.req.valid("param").liveBroadcastId, c.req.valid("json"));
    const shown = toVideo(video);
    await tagVideo(c, video, shown);
    return c.json(shown, 200);
  },
);

videos.openapi(
  operation({
    operationId: "getTotalViews",
    tag,
    method: "get",
    path: "/video/v3/stats/total-views/{id}",
    summary: "Get a recording's total views",
    description: "The number of views of a recording. For livestreams, use the batch operation.",
    access: { credentials: CLIENT },
    request: { params: IdParam },
    responses: { 200: json("The number of views", TotalViews) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await totalViews(c.get("ctx"), c.req.valid("param").id), 200),
);

videos.openapi(
  operation({
    operationId: "listTotalViews",
    tag,
    method: "get",
    path: "/video/v3/stats/total-views-batch/{ids}",
    summary: "Get several videos' total views",
    description:
      "The number of views of each video, livestreams included, in the requested order; omits videos that the site doesn't have.",
    access: { credentials: CLIENT },
    request: { params: VideoIdsParam },
    responses: { 200: json("The views of each", z.array(VideoTotalViews)) },
  }),
  async (c) => c.json(await totalViewsOf(c.get("ctx"), c.req.valid("param").ids), 200),
);

videos.openapi(
  operation({
    ...reading,
    operationId: "getVideo",
    method: "get",
    path: "/video/v3/{id}",
    summary: "Get a video",
    description: `One recording or livestream. ${urls}`,
    request: { params: IdParam },
    responses: { 200: json("The video", Video) },
    errors: ["not_found"],
  }),
  async (c) => {
    const video = await getVideo(c.get("ctx"), c.req.valid("param").id);
    const shown = (await serialiser(c))(video);
    await tagVideo(c, video, shown);
    return c.json(shown, 200);
  },
);

videos.openapi(
  operation({
    operationId: "updateVideo",
    tag,
    method: "post",
    path: "/video/v3/{id}",
    summary: "Change a video",
    description: "Changes only the given fields; lists are replaced. A recording that becomes complete publishes `admin.vodReady`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(VideoPatch) },
    responses: { 200: json("The video as it is now", Video) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const video = await updateVideo(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    const shown = toVideo(video);
    await tagVideo(c, video, shown);
    return c.json(shown, 200);
  },
);

videos.openapi(
  operation({
    operationId: "deleteVideo",
    tag,
    method: "delete",
    path: "/video/v3/{id}",
    summary: "Delete a video",
    description: "Deletes the video and its view count. A recording publishes `admin.vodDeleted`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The video is deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteVideo(c.get("ctx"), c.req.valid("param").id)), 200),
);

videos.openapi(
  operation({
    operationId: "recordView",
    tag,
    method: "post",
    path: "/video/v3/{id}/views",
    summary: "Count a view",
    description: "Counts a view of the video by the viewer's device. A device counts at most once per hour.",
    access: { credentials: DEVICE },
    request: { params: IdParam },
    responses: { 204: { description: "The view is counted, or was already counted within the hour" } },
    errors: ["not_found"],
  }),
  async (c) => {
    await recordView(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);
