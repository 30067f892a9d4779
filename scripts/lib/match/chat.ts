import { z } from "@hono/zod-openapi";
import { CHANNEL_1 } from "#db/demo/match-day.ts";
import { RECORDED_MATCH } from "#db/demo/recorded-match.ts";
import { say } from "../report.mjs";
import { bodyOf, type Call } from "./api.ts";
import { type Line, linesFor } from "./chat-lines.ts";
import { openDesk } from "./desk.ts";
import { nameOf, supporter } from "./fans.ts";

// The chat of the match: supporters who cheer, reply and react, and a moderator who has something to do.

const ROOM = `/chat/v1/${CHANNEL_1}`;
/** The supporters of 200 who write. */
const FANS = 20;
/** The one who gets carried away. */
const TROLL = 8;
/** The channel's settings while nothing happens. */
const CALM = { emoji: ["👍", "❤️", "😂", "🎉", "😮", "😢"] };

const Sent = z.object({ _id: z.string(), state: z.string() });
const Bans = z.object({ results: z.array(z.object({ _id: z.string() })) });
const Account = z.object({ accountId: z.string() });

type Clock = (minute: number) => Promise<void>;

/** Plays the chat along the match. */
export async function playChat(url: string, until: Clock): Promise<void> {
  await forgive(url);
  await Promise.all([cheer(url, until), moderate(url, until)]);
}

/** Lifts what an earlier run left: the ban, and the settings of its end. */
async function forgive(url: string): Promise<void> {
  const desk = await openDesk(url);
  bodyOf(await desk("PUT", `${ROOM}/settings`, CALM));
  const { results } = Bans.parse(bodyOf(await desk("GET", `/chat/v1/bans?channelId=${CHANNEL_1}&limit=200`)));
  for (const { _id } of results) bodyOf(await desk("DELETE", `/chat/v1/bans/${_id}`));
}

async function cheer(url: string, until: Clock): Promise<void> {
  const lines = RECORDED_MATCH.flatMap((moment, index) =>
    linesFor(moment, index).map((line) => ({ line, at: moment.minute + line.after })),
  );
  await Promise.all(
    lines.map(async ({ line, at }) => {
      await until(at);
      await write(url, line);
    }),
  );
}

async function write(url: string, { fan, text, reactions, reply }: Line): Promise<void> {
  const sent = await post(await supporter(url, fan), text);
  if (!sent) return;
  for (let other = 1; other <= (reactions?.count ?? 0); other++) {
    const call = await supporter(url, (fan + other) % FANS);
    await call("PUT", `${ROOM}/messages/${sent._id}/reactions`, { emoji: reactions?.emoji });
  }
  if (reply) await post(await supporter(url, reply.fan), reply.text, sent._id);
}

/** Sends a message; undefined if the room doesn't take it, such as in slow mode. */
async function post(call: Call, text: string, replyTo?: string): Promise<z.output<typeof Sent> | undefined> {
  const response = await call("POST", `${ROOM}/messages`, { text, ...(replyTo === undefined ? {} : { replyTo }) });
  return [403, 409, 429].includes(response.status) ? undefined : Sent.parse(bodyOf(response));
}

/** What the moderator does, in the order of the match. */
async function moderate(url: string, until: Clock): Promise<void> {
  const desk = () => openDesk(url);
  const announce = async (text: string) => bodyOf(await (await desk())("POST", `${ROOM}/messages`, { text, system: true }));

  await announce("Kick-off in a moment. The prediction is open until half-time.");
  const pinned = Sent.parse(await announce("Ask the coaches in the panel beside the chat; they answer at half-time."));
  bodyOf(await (await desk())("PUT", `${ROOM}/settings`, { ...CALM, pinnedMessageId: pinned._id }));

  await until(18);
  bodyOf(await (await desk())("PUT", `${ROOM}/settings`, { ...CALM, pinnedMessageId: pinned._id, slowSeconds: 5 }));
  say("     Chat: slow mode after the goal, one message in 5 s");
  await until(21);
  bodyOf(await (await desk())("PUT", `${ROOM}/settings`, { ...CALM, pinnedMessageId: pinned._id }));

  await until(23.2);
  await holdOne(url, await desk(), pinned._id);
  await until(34.5);
  await banOne(url, await desk());
  await until(45.2);
  await announce("Half-time. The prediction is closed.");
  await until(90.5);
  await announce("Full time. The draw among those who were right follows.");
  bodyOf(await (await desk())("PUT", `${ROOM}/settings`, CALM));
}

/** The booking heats the room up: for a moment messages are held, and one of them is shown. */
async function holdOne(url: string, desk: Call, pinnedMessageId: string): Promise<void> {
  bodyOf(await desk("PUT", `${ROOM}/settings`, { ...CALM, pinnedMessageId, premoderate: true }));
  const held = await post(await supporter(url, 13), "Kessler should be off, watch the replay from behind the goal");
  bodyOf(await desk("PUT", `${ROOM}/settings`, { ...CALM, pinnedMessageId }));
  if (held?.state !== "held") return;
  bodyOf(await desk("PUT", `${ROOM}/messages/${held._id}`, { decision: "approve" }));
  say(`     Chat: a message by ${nameOf(13)} was held, and approved`);
}

/** Two supporters report a third, whose message is removed, and who watches the rest in silence. */
async function banOne(url: string, desk: Call): Promise<void> {
  const troll = await supporter(url, TROLL);
  const sent = await post(troll, "City fans are all frauds, go to free-tickets.example instead");
  if (!sent) return;
  for (const fan of [6, 16]) {
    const call = await supporter(url, fan);
    await call("POST", `${ROOM}/messages/${sent._id}/reports`, { reason: "Insults, and advertises" });
  }
  const { accountId } = Account.parse(bodyOf(await desk("PUT", `${ROOM}/messages/${sent._id}`, { decision: "reject" })));
  bodyOf(await desk("POST", "/chat/v1/bans", { accountId, kind: "ban", channelId: CHANNEL_1, reason: "Insults" }));
  const rejected = await post(troll, "Was that all?");
  say(
    `     Chat: a message by ${nameOf(TROLL)} was reported and removed, ${rejected ? "its author is still here" : "its author is banned"}`,
  );
}
