// Ids and key of the demo site; they exist only in local demo data.
export const DEMO = {
  clientId: "5eed00000000000000000001",
  developerKey: "tifo_dev_demo",
  channelId: "5eed0000000000000000c001",
  overlayId: "5eed0000000000000000a001",
} as const;

/** The demo's accounts that can chat. */
export const CHATTERS = {
  viewer: { name: "Vera Viewer", email: "viewer@demo.example", password: "demo-viewer-pass" },
  moderator: { name: "Mo Moderator", email: "moderator@demo.example", password: "demo-moderator-pass" },
} as const;

export type Chatter = keyof typeof CHATTERS;

/** Whether the server of this page runs the demo site. Throws if the server can't be reached. */
export async function isDemoServer(): Promise<boolean> {
  const response = await fetch("/site/v1/", { headers: { "Tifo-Client-Id": DEMO.clientId } });
  // An unread response body keeps its connection open.
  await response.body?.cancel();
  return response.ok;
}

/** Broadcasts the demo overlay to the demo channel and returns the broadcast's id. Throws with the server's message. */
export async function broadcastDemoOverlay(): Promise<string> {
  const response = await fetch(`/overlay/v1/broadcast/${DEMO.overlayId}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Tifo-Client-Id": DEMO.clientId,
      "Tifo-Developer-Key": DEMO.developerKey,
    },
    body: JSON.stringify({ channelId: DEMO.channelId, variables: { scorer: "Ada Moreno", minute: 17 } }),
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new Error(textAt(body, "message") ?? `The server returned ${response.status}.`);
  return textAt(firstOf(body, "broadcasts"), "broadcastId") ?? "";
}

/** The question of a poll on the demo site. */
export async function questionOf(pollId: string): Promise<string | undefined> {
  const response = await fetch(`/poll/v3/${pollId}`, { headers: { "Tifo-Client-Id": DEMO.clientId } });
  const body: unknown = await response.json();
  return textAt(body, "question");
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined;
}

function firstOf(value: unknown, key: string): unknown {
  const list = at(value, key);
  return Array.isArray(list) ? list[0] : undefined;
}

/** The string at `key` of a JSON value, if there is one. */
export function textAt(value: unknown, key: string): string | undefined {
  const text = at(value, key);
  return typeof text === "string" ? text : undefined;
}
