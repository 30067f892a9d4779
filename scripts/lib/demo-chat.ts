import { z } from "@hono/zod-openapi";
import { CHANNEL_1 } from "#db/demo/match-day.ts";
import { bodyOf } from "./match/api.ts";
import { openDesk } from "./match/desk.ts";
import { supporter } from "./match/fans.ts";

// What the demo's chat contains before anybody writes. A room's messages are in its object, so they are sent to the running server.

const ROOM = `/chat/v1/${CHANNEL_1}`;

/** Before the match. `fan`: the supporter's number, or "site". `replyTo`: the index of an earlier line. */
const LINES: { fan: number | "site"; text: string; replyTo?: number; reactions?: [emoji: string, ...fans: number[]] }[] = [
  { fan: "site", text: "The gates are open. Kick-off is at three." },
  { fan: 4, text: "First derby with my daughter today 💙", reactions: ["❤️", 5, 6, 7, 9] },
  { fan: 7, text: "Then she has to see a win. No pressure, City", replyTo: 1 },
  { fan: 1, text: "Dock brought three coaches, we will be louder", reactions: ["😂", 4, 12] },
  { fan: 12, text: "@Jonas Brandt three coaches is not many", replyTo: 3 },
  { fan: 10, text: "Does anybody know why the Quayside stand is closed?" },
  { fan: 15, text: "Storm damage on the roof, it was in the paper", replyTo: 5, reactions: ["👍", 10] },
  { fan: 18, text: "Line-up is out! Moreno starts", reactions: ["🎉", 4, 5, 10, 16] },
];

const Page = z.object({ results: z.array(z.unknown()) });
const Sent = z.object({ _id: z.string() });

/** Fills the demo's chat unless somebody has written there before. */
export async function fillDemoChat(url: string): Promise<void> {
  const desk = await openDesk(url);
  if (Page.parse(bodyOf(await desk("GET", `${ROOM}/messages?limit=1`))).results.length > 0) return;
  const ids: string[] = [];
  for (const { fan, text, replyTo, reactions: [emoji, ...others] = [] } of LINES) {
    const call = fan === "site" ? desk : await supporter(url, fan);
    const reply = replyTo === undefined ? {} : { replyTo: ids[replyTo] };
    const { _id } = Sent.parse(
      bodyOf(await call("POST", `${ROOM}/messages`, { text, ...reply, ...(fan === "site" ? { system: true } : {}) })),
    );
    ids.push(_id);
    for (const other of others) bodyOf(await (await supporter(url, other))("PUT", `${ROOM}/messages/${_id}/reactions`, { emoji }));
  }
}
