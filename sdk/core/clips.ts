import { ok } from "../client/index.ts";
import type { Clip } from "../model/player.ts";
import type { Session } from "./session.ts";

export interface SiteVideo {
  _id: string;
  title: string;
  url: string | null;
}

/** Loads a video of the site as a clip. */
export async function clipById(videoId: string, channelId: string, session: Session): Promise<Clip | undefined> {
  return clipOf(await ok(session.client.api.GET("/video/v3/{id}", { params: { path: { id: videoId } } })), channelId, session);
}

/**
 * Turns a loaded video into a clip. The URL of a gated video comes from the channel's content, if the viewer can play it there. If the viewer
 * must sign in first, the host app receives `loginRequested`.
 */
export async function clipOf({ _id: videoId, title, url }: SiteVideo, channelId: string, session: Session): Promise<Clip | undefined> {
  if (url !== null) return { videoId, title, url };
  const { canIPlayResponse } = await ok(
    session.client.api.GET("/page/v2/content/id/{pageId}", {
      params: { path: { pageId: channelId }, query: { videoId } },
      headers: { "Tifo-Device-Id": session.deviceId },
    }),
  );
  const { contentCheck, error } = canIPlayResponse;
  if (error?.type === "sign_in_required") session.delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested" }));
  else if (error) console.warn(`Tifo: this viewer can't play ${videoId}: ${error.message}`);
  const playable = contentCheck.video?.url ?? null;
  return playable === null ? undefined : { videoId, title, url: playable };
}
