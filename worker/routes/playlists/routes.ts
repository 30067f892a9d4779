import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { importYoutubePlaylist } from "#worker/services/playlists/imports.ts";
import {
  createPlaylist,
  deletePlaylist,
  findReferences,
  getPlaylist,
  listPlaylists,
  listPlaylistsById,
  updatePlaylist,
} from "#worker/services/playlists/playlists.ts";
import {
  ImportInput,
  Playlist,
  PlaylistIdsQuery,
  PlaylistInput,
  PlaylistPatch,
  PlaylistQuery,
  ProjectedPlaylist,
  projectPlaylist,
  Reference,
  toPlaylist,
} from "#worker/services/playlists/schemas.ts";

export const playlists = createArea();
const tag = "Playlists";
const ProjectedList = listOf(ProjectedPlaylist).openapi("ProjectedPlaylistList");

playlists.openapi(
  operation({
    operationId: "listPlaylists",
    tag,
    method: "get",
    path: "/playlist/v1",
    summary: "List playlists",
    description: "The site's playlists, most recently modified first, filtered by any property, with all fields or those of a projection.",
    access: { credentials: CLIENT },
    request: { query: PlaylistQuery },
    responses: { 200: json("A page of playlists", ProjectedList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listPlaylists(c.get("ctx"), query);
    return c.json(
      listResponse(c.req.url, query, page, (row) => projectPlaylist(row, query.projection)),
      200,
    );
  },
);

playlists.openapi(
  operation({
    operationId: "createPlaylist",
    tag,
    method: "post",
    path: "/playlist/v1",
    summary: "Create a playlist",
    description: "Creates an ordered list of videos, pages, panels or other playlists.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(PlaylistInput) },
    responses: { 201: json("The playlist", Playlist) },
  }),
  async (c) => {
    const playlist = await createPlaylist(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, playlist);
    return c.json(toPlaylist(playlist), 201);
  },
);

playlists.openapi(
  operation({
    operationId: "listPlaylistsById",
    tag,
    method: "get",
    path: "/playlist/v1/list",
    summary: "List playlists by ids",
    description: "The site's playlists with the given ids, most recently modified first.",
    access: { credentials: CLIENT },
    request: { query: PlaylistIdsQuery },
    responses: { 200: json("A page of playlists", ProjectedList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listPlaylistsById(c.get("ctx"), query);
    return c.json(
      listResponse(c.req.url, query, page, (row) => projectPlaylist(row, query.projection)),
      200,
    );
  },
);

playlists.openapi(
  operation({
    operationId: "importYoutubePlaylist",
    tag,
    method: "post",
    path: "/playlist/v1/external/import/youtube",
    summary: "Import a playlist from YouTube",
    description:
      "Imports a public YouTube playlist with its first 200 public videos. Videos that the site already has with the same URL are reused. Requires that the deployment has a key for the YouTube Data API.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(ImportInput) },
    responses: { 201: json("The playlist", Playlist) },
    errors: ["youtube_not_configured"],
  }),
  async (c) => {
    const playlist = await importYoutubePlaylist(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, playlist);
    return c.json(toPlaylist(playlist), 201);
  },
);

playlists.openapi(
  operation({
    operationId: "listReferences",
    tag,
    method: "get",
    path: "/playlist/v1/validate-references/{id}",
    summary: "List what uses a playlist or video",
    description: "The documents that reference this playlist or video, to check before you delete it; at most 100 per collection.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The documents", z.array(Reference)) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await findReferences(c.get("ctx"), c.req.valid("param").id), 200),
);

playlists.openapi(
  operation({
    operationId: "getPlaylist",
    tag,
    method: "get",
    path: "/playlist/v1/{id}",
    summary: "Get a playlist",
    description: "Returns one playlist with its members.",
    access: { credentials: CLIENT },
    request: { params: IdParam },
    responses: { 200: json("The playlist", Playlist) },
    errors: ["not_found"],
  }),
  async (c) => {
    const playlist = await getPlaylist(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, playlist);
    return c.json(toPlaylist(playlist), 200);
  },
);

playlists.openapi(
  operation({
    operationId: "updatePlaylist",
    tag,
    method: "post",
    path: "/playlist/v1/{id}",
    summary: "Update a playlist",
    description: "Updates the given fields and keeps the others; `members` and `tags` are replaced.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(PlaylistPatch) },
    responses: { 200: json("The updated playlist", Playlist) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const playlist = await updatePlaylist(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, playlist);
    return c.json(toPlaylist(playlist), 200);
  },
);

playlists.openapi(
  operation({
    operationId: "deletePlaylist",
    tag,
    method: "delete",
    path: "/playlist/v1/{id}",
    summary: "Delete a playlist",
    description: "Deletes the playlist, but not its members.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deletePlaylist(c.get("ctx"), c.req.valid("param").id)), 200),
);
