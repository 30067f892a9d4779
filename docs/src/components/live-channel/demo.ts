import { storedSandbox } from "../sandbox/sandbox.ts";
import { recordRequest } from "../sandbox/requests.ts";

// Ids and key of the demo site; they exist only in local demo data.
export const DEMO = {
  clientId: "5eed00000000000000000001",
  developerKey: "tifo_dev_demo",
  channelId: "5eed0000000000000000c001",
} as const;

/** The site that the page shows live: the reader's sandbox or the demo. */
export function liveSite(): { clientId: string; developerKey: string; channelId: string } {
  const sandbox = storedSandbox();
  return sandbox ? { clientId: sandbox.siteId, developerKey: sandbox.developerKey, channelId: sandbox.channelId } : DEMO;
}

interface DemoOverlay {
  id: string;
  name: string;
  variables: Record<string, string | number | boolean>;
}

const GOAL: DemoOverlay = { id: "5eed0000000000000000a001", name: "Goal", variables: { scorer: "Ada Moreno", minute: 17 } };

/** Overlays of the demo site, with variables to try them with. */
export const DEMO_OVERLAYS: readonly DemoOverlay[] = [
  GOAL,
  {
    id: "5eed0000000000000000a004",
    name: "Score and clock",
    variables: { home: 2, away: 1, moment: "2nd half", clock: 4020, running: true },
  },
  { id: "5eed0000000000000000a009", name: "Poll", variables: { poll: "5eed00000000000000006001" } },
  { id: "5eed0000000000000000a002", name: "Yellow card", variables: { player: "Noor Haddad", number: 6, minute: 31 } },
  {
    id: "5eed0000000000000000a005",
    name: "Substitution",
    variables: { on: "Emre Tan", onNumber: 17, off: "Cleo Martin", offNumber: 7, minute: 60 },
  },
  { id: "5eed0000000000000000a006", name: "Line-up", variables: {} },
  {
    id: "5eed0000000000000000a00b",
    name: "Name",
    variables: { person: "Mira Castellanos", about: "Head coach, Harbour City", where: "Touchline" },
  },
  {
    id: "5eed0000000000000000a00a",
    name: "Fan",
    variables: { fan: "Marta Quay", message: "Fifty years on the Quayside stand, and I still can’t watch a corner." },
  },
  {
    id: "5eed0000000000000000a00c",
    name: "News",
    variables: { about: "Attendance", news: "18,342 at Harbour City Park", more: "The highest of the season so far" },
  },
  {
    id: "5eed0000000000000000a008",
    name: "Final result",
    variables: { home: 2, away: 1, homeScorers: "Moreno 17′\nTan 83′", awayScorers: "Vane 58′" },
  },
];

/** The accounts of the demo that can chat. */
export const CHATTERS = {
  viewer: { name: "Vera Viewer", email: "viewer@demo.example", password: "demo-viewer-pass" },
  moderator: { name: "Mo Moderator", email: "moderator@demo.example", password: "demo-moderator-pass" },
} as const;

export type Chatter = keyof typeof CHATTERS;

/** The accounts that can chat, with how they sign in. */
export function liveChatters(): Partial<Record<Chatter, { name: string; email: string; password: string }>> {
  const sandbox = storedSandbox();
  return sandbox ? { viewer: { name: "Sandbox viewer", email: sandbox.viewerEmail, password: sandbox.password } } : CHATTERS;
}

/** The overlays to choose from: a sandbox has the first one. */
export function liveOverlays(): readonly DemoOverlay[] {
  return storedSandbox() ? [GOAL] : DEMO_OVERLAYS;
}

/** Whether the server of this page runs the demo site, or has the reader's sandbox. Throws if the server can't be reached. */
export async function isDemoServer(): Promise<boolean> {
  const response = await fetch("/site/v1/", { headers: { "Tifo-Client-Id": liveSite().clientId } });
  // An unread response body keeps its connection open.
  await response.body?.cancel();
  return response.ok;
}

/** Broadcasts an overlay to the live site's channel and returns the broadcast's id. Throws with the server's message. */
export async function broadcastDemoOverlay({ id, variables }: DemoOverlay = GOAL): Promise<string> {
  const { clientId, developerKey, channelId } = liveSite();
  const path = `/overlay/v1/broadcast/${storedSandbox()?.overlayId ?? id}`;
  const response = await fetch(path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Tifo-Client-Id": clientId,
      "Tifo-Developer-Key": developerKey,
    },
    body: JSON.stringify({ channelId, variables }),
  });
  recordRequest({ method: "POST", path, status: response.status });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new Error(textAt(body, "message") ?? `The server returned ${response.status}.`);
  return textAt(firstOf(body, "broadcasts"), "broadcastId") ?? "";
}

/** The question of a poll. */
export async function questionOf(pollId: string): Promise<string | undefined> {
  const response = await fetch(`/poll/v3/${pollId}`, { headers: { "Tifo-Client-Id": liveSite().clientId } });
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
