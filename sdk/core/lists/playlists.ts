import { ok, type Schemas } from "../../client/index.ts";
import { readAll } from "../../client/lists.ts";
import { nullIfNotFound } from "../../client/problem.ts";
import type { Session } from "../session.ts";

/** The videos of a playlist, in its order, without those that have been deleted; none of a deleted playlist. */
export async function videosOfPlaylist({ client: { api } }: Pick<Session, "client">, playlistId: string): Promise<Schemas["Video"][]> {
  const [playlist, videos] = await Promise.all([
    ok(api.GET("/playlist/v1/{id}", { params: { path: { id: playlistId } } })).catch(nullIfNotFound),
    readAll((page) => ok(api.GET("/video/v3", { params: { query: { ...page, playlistId } } }))),
  ]);
  const byId = new Map(videos.map((video) => [video._id, video]));
  return (playlist?.members ?? []).flatMap(({ id, schema }) => (schema === "video" ? (byId.get(id) ?? []) : []));
}
