import { z } from "@hono/zod-openapi";
import { POSITIONS } from "#db/enums.ts";
import { orNull } from "#worker/lib/schemas/common.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { OverlayCta } from "#worker/lib/schemas/overlay-cta.ts";

// What travels on a channel's socket (and as Server-Sent Events). No platform import: the docs and the SDK read this file too.

const Seq = z.number().int().nonnegative().describe("Position in the channel's log; the first frame is 1");
const Time = z.number().int().describe("Milliseconds since 1970 UTC, server's clock");

/** Every message to a viewer carries `upTo`: the log position that the viewer now holds, to be sent back as `seq` on reconnecting. */
const held = { upTo: Seq };

export const OverlayContent = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("html"),
    html: z.string().describe("Rendered: variables are filled in and escaped"),
    position: z.enum(POSITIONS),
  }),
  z.object({
    kind: z.literal("rive"),
    mediaId: z.string(),
    fileName: z.string(),
    url: z.string().optional(),
    position: z.enum(POSITIONS),
  }),
]);

/** One broadcast of an overlay, as it goes to the screen. */
export const OverlayShow = z.object({
  type: z.literal("overlay.show"),
  seq: Seq,
  ...held,
  broadcastId: z.string(),
  overlayId: z.string(),
  startsAt: Time,
  endsAt: Time,
  position: z.enum(POSITIONS),
  contents: z.array(OverlayContent),
  cta: orNull(OverlayCta),
  variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  priority: z.number().int().describe("Where two overlays want one position, the viewer shows the higher first"),
  timecode: z.number().optional().describe("Seconds of media time at which the viewer shows it"),
  segment: z
    .object({ tags: z.array(z.string()) })
    .optional()
    .describe("Only viewers with one of these tags receive it"),
  broadcastPayload: z.record(z.string(), z.unknown()).optional().describe("What whoever sent it hands to the viewer's app"),
});

/** A picture may be so far behind, ms: a broadcast with a timecode is offered to whoever comes so long after its end. */
export const PICTURE_LAG_MS = 60_000;

export const OverlayClear = z.object({
  type: z.literal("overlay.clear"),
  seq: Seq,
  ...held,
  broadcastIds: z.array(z.string()),
  ended: z
    .boolean()
    .optional()
    .describe("True: nobody took them off, their time is over. A viewer that holds one for its picture, or shows it since, keeps it"),
});

/** Something happened to the channel; `data` is the changed resource's public part. */
const event = <T extends string>(type: T) =>
  z.object({ type: z.literal(type), seq: Seq, ...held, data: z.record(z.string(), z.unknown()) });

export const StreamLive = event("stream.live");
export const StreamOffline = event("stream.offline");
export const PageUpdated = event("page.updated");
export const QuestUpdated = event("quest.updated");
/** A client rule that holds from now on or, with `active: false`, no more; `data` is the rule. */
export const Rule = event("rule");

/**
 * First frame of every connection. `recovered: true`: the frames that the viewer missed follow, and `upTo` is the position that it came
 * with. `recovered: false`: the viewer is new or the log no longer reaches back, and `overlays` is the whole state.
 */
export const Welcome = z.object({
  type: z.literal("welcome"),
  epoch: z.string().describe("Names this log; a position of another epoch can't be resumed"),
  seq: Seq,
  ...held,
  now: Time.describe("Milliseconds since 1970 UTC by the server's clock, for a viewer whose own is wrong"),
  recovered: z.boolean(),
  overlays: z
    .array(OverlayShow)
    .describe("What is on now, and what with a `timecode` was until 60 s ago, for pictures that are behind; empty when recovered"),
  rules: z.array(Rule).describe("The client rules that hold now; empty when recovered"),
  concurrents: z.number().int().nonnegative(),
  heartbeat: z.number().describe("Seconds within which the server must hear from the viewer; ping at two thirds of it"),
});

export const Concurrents = z.object({ type: z.literal("concurrents"), ...held, count: z.number().int().nonnegative() });
export const PollUpdated = z.object({ type: z.literal("poll.updated"), ...held, data: z.record(z.string(), z.unknown()) });
/** To the account's own viewers alone. No log keeps it: who connects anew comes with what holds then. */
export const AccountChanged = z.object({
  type: z.literal("account.changed"),
  ...held,
  data: z.object({
    _id: z.string().describe("The account"),
    tags: z.array(z.string()).describe("Its tags from now on; overlays for others don't come any more"),
  }),
});
/** Answers a `vote`, to whoever sent it. */
export const VoteResult = z.object({
  type: z.literal("vote.result"),
  ...held,
  id: z.string().describe("The `id` of the vote"),
  ok: z.boolean().describe("Whether it counts; a repeat of one that counts is answered alike"),
  code: z.string().optional().describe("Why it doesn't: a code of the API's errors"),
  message: z.string().optional().describe("The same as a sentence"),
});
export const Drain = z.object({ type: z.literal("drain"), ...held, reconnectIn: z.number().int().describe("Milliseconds; add jitter") });
/** Answers a `ping` frame, not the text. */
export const Pong = z.object({ type: z.literal("pong"), ...held });
export const RealtimeError = z.object({
  type: z.literal("error"),
  code: z.string(),
  message: z.string(),
  close: z
    .number()
    .int()
    .optional()
    .describe("The code that the socket closes with after this frame; over Server-Sent Events, which have no close codes, the stream ends"),
});

/** Frames that stand in the log: ordered, kept, replayed on resume. */
export const LoggedFrame = z.discriminatedUnion("type", [
  OverlayShow,
  OverlayClear,
  StreamLive,
  StreamOffline,
  PageUpdated,
  QuestUpdated,
  Rule,
]);

/** Frames of state: the latest wins, none is kept. */
export const StateFrame = z.discriminatedUnion("type", [Concurrents, PollUpdated, AccountChanged]);

export const ServerFrame = z.discriminatedUnion("type", [
  ...LoggedFrame.options,
  ...StateFrame.options,
  Welcome,
  VoteResult,
  Pong,
  Drain,
  RealtimeError,
]);

/** One WebSocket message is one frame, or a list of frames in order when several came within 50 ms, or 100 ms during a burst. */
export const ServerMessage = z.union([ServerFrame, z.array(ServerFrame)]);

/** The text that keeps a socket alive; answered with `pong` by the platform without waking the object. */
export const PING = "ping";
export const PONG = "pong";

const Name = z.string().min(1).max(64);

/** What a viewer holds now. */
export const Ack = z.strictObject({
  type: z.literal("ack"),
  seq: Seq.describe("The last `upTo`: all up to there is on the screen or was. A few a second at most; one stands for all before it"),
});
/** What a viewer watches. */
export const Watch = z.strictObject({
  type: z.literal("watch"),
  videoId: Name.describe("The video that plays"),
  mediaTime: z.number().nonnegative().describe("Seconds of media time; told every few seconds, what lies between is watched"),
});
export const PanelOpened = z.strictObject({ type: z.literal("panel"), panelId: Name.describe("The panel that the viewer has opened") });
/** An answer to a poll; `vote.result` tells whether it counts. */
export const Vote = z.strictObject({
  type: z.literal("vote"),
  pollId: z.string().regex(ID_PATTERN).describe("An open poll"),
  answerId: Name.describe("One of its answers"),
  id: Name.describe("The viewer's own name for this vote: repeated with it, it counts once; `vote.result` carries it back"),
});

/** For clients that send nothing but JSON. The text `ping` says the same and wakes nobody. */
export const Ping = z.strictObject({ type: z.literal("ping") });

export const ViewerFrame = z.discriminatedUnion("type", [Ack, Watch, PanelOpened, Vote, Ping]);

/** Why the server closes a socket; browsers can't read an HTTP status, so refusals come this way too. */
export const CLOSE = {
  badFrame: 4400,
  /** The upgrade itself was not valid. */
  badRequest: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  notFound: 4404,
  tooSlow: 4408,
  tooMany: 4429,
  internal: 1011,
  /** The server is to be tried again later. */
  unavailable: 1013,
  /** What the viewer holds can't be continued: reconnect, and get the full state. */
  startOver: 1012,
} as const;

export type LoggedFrame = z.infer<typeof LoggedFrame>;
export type OverlayShow = z.infer<typeof OverlayShow>;
export type ServerFrame = z.infer<typeof ServerFrame>;
export type ViewerFrame = z.infer<typeof ViewerFrame>;
