import { z } from "@hono/zod-openapi";
import { POSITIONS } from "#db/enums.ts";
import {
  ChatHistory,
  ChatJoin,
  ChatLeave,
  ChatMessages,
  ChatReact,
  ChatResult,
  ChatSend,
  ChatSettingsChanged,
  ChatUpdated,
} from "./chat.protocol.ts";
import { orNull } from "#worker/lib/schemas/common.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { OverlayCta } from "#worker/lib/schemas/overlay-cta.ts";
import { ShownGraphicElement } from "#worker/lib/schemas/graphic-element.ts";
import { ShownKitElement } from "#worker/lib/schemas/overlay-kit/kit.ts";

export * from "./chat.protocol.ts";

// The messages on a channel's socket (and as Server-Sent Events). No platform import: the docs and the SDK read this file too.

const Seq = z.number().int().nonnegative().describe("Position in the channel's log; the first frame is 1");
const Time = z.number().int().describe("Milliseconds since 1970 UTC, by the server's clock");

/** Every message to a viewer has `upTo`: the log position that the viewer has reached, sent back as `seq` on reconnecting. */
const held = { upTo: Seq };

export const OverlayContent = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("html"),
    html: z.string().describe("Rendered: variables are substituted and escaped"),
    position: z.enum(POSITIONS),
  }),
  z.object({
    kind: z.literal("rive"),
    mediaId: z.string(),
    fileName: z.string(),
    url: z.string().optional(),
    position: z.enum(POSITIONS),
  }),
  ShownKitElement,
  ShownGraphicElement,
]);

/** One broadcast of an overlay, as the viewer displays it. */
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
  priority: z.number().int().describe("If two overlays share a position, the viewer shows the one with the higher priority first"),
  timecode: z.number().optional().describe("Media time at which the viewer shows it, in seconds"),
  segment: z
    .object({ tags: z.array(z.string()) })
    .optional()
    .describe("Only viewers with one of these tags receive it"),
  broadcastPayload: z.record(z.string(), z.unknown()).optional().describe("Custom data from the sender for the viewer's app"),
});

/** The longest supported video latency (ms): a broadcast with a timecode is sent to new viewers this long after its end. */
export const MAX_VIDEO_LATENCY_MS = 60_000;

export const OverlayClear = z.object({
  type: z.literal("overlay.clear"),
  seq: Seq,
  ...held,
  broadcastIds: z.array(z.string()),
  ended: z
    .boolean()
    .optional()
    .describe(
      "True: they expired and weren't cleared. A viewer that still waits for its playback position, or already shows one, keeps it",
    ),
});

/** A change on the channel; `data` is the public part of the changed resource. */
const event = <T extends string>(type: T) =>
  z.object({ type: z.literal(type), seq: Seq, ...held, data: z.record(z.string(), z.unknown()) });

export const StreamLive = event("stream.live");
export const StreamOffline = event("stream.offline");
export const PageUpdated = event("page.updated");
export const QuestUpdated = event("quest.updated");
/** A client rule that becomes active or, with `active: false`, inactive; `data` is the rule. */
export const Rule = event("rule");

/**
 * First frame of every connection. `recovered: true`: the frames that the viewer missed follow, and `upTo` is the position it resumed
 * from. `recovered: false`: the viewer is new or the log no longer reaches back, and `overlays` is the full state.
 */
export const Welcome = z.object({
  type: z.literal("welcome"),
  epoch: z.string().describe("Identifies this log; a position of another epoch can't be resumed"),
  seq: Seq,
  ...held,
  now: Time.describe("Milliseconds since 1970 UTC by the server's clock, for viewers whose own clock is wrong"),
  recovered: z.boolean(),
  overlays: z
    .array(OverlayShow)
    .describe("Active overlays, and those with a `timecode` that ended within the last 60 s, for delayed video; empty when recovered"),
  rules: z.array(Rule).describe("The active client rules; empty when recovered"),
  concurrents: z.number().int().nonnegative(),
  heartbeat: z.number().describe("Seconds within which the server must receive a message from the viewer; ping at two thirds of it"),
});

export const Concurrents = z.object({ type: z.literal("concurrents"), ...held, count: z.number().int().nonnegative() });
export const PollUpdated = z.object({ type: z.literal("poll.updated"), ...held, data: z.record(z.string(), z.unknown()) });
/** A question as every viewer of the channel may see it. */
const PublicQuestion = z.object({
  _id: z.string(),
  channelId: z.string(),
  accountId: z.string().describe("The account that asked"),
  name: z.string().describe("Its name"),
  text: z.string(),
  state: z.enum(["approved", "answered", "merged"]),
  upvotes: z.number().int().nonnegative(),
  answer: z.string().nullable().describe("Null unless answered in writing"),
  answeredBy: z.string().nullable().describe("The name of the account that answered"),
  mergedInto: z.string().nullable().describe("The question that has taken over its voters"),
  askedAt: Time,
  revision: z.number().int().describe("Rises with every change; ignore a question with a lower one than you have"),
});
const WithdrawnQuestion = z.object({ _id: z.string(), channelId: z.string(), state: z.literal("dismissed") });
/** A change of a question, at most twice a second per channel. Not sent to new viewers: load the questions after `welcome`. */
export const QuestionUpdated = z.object({
  type: z.literal("question.updated"),
  ...held,
  question: z
    .discriminatedUnion("state", [PublicQuestion, WithdrawnQuestion])
    .describe("With the state `dismissed`: no longer public, remove it from the screen"),
});
/** The top of a leaderboard, at most twice a second while it changes; new viewers get the latest one. */
export const LeaderboardUpdated = z.object({
  type: z.literal("leaderboard.updated"),
  ...held,
  leaderboard: z.object({
    leaderboardId: z.string(),
    top: z
      .array(
        z.object({
          rank: z.number().int().positive().describe("Members with equal points share a rank"),
          accountId: z.string().nullable().describe("Null for an account that is hidden or deleted"),
          name: z.string().nullable().describe("Null for an account that is hidden or deleted"),
          points: z.number().int(),
        }),
      )
      .describe("The first ten members; among equal points, the one who reached them earlier comes first"),
  }),
});
/** A player or team of the channel's match facts with something new, at most twice a second. Not sent to new viewers: load the list. */
export const EntityUpdated = z.object({
  type: z.literal("entity.updated"),
  ...held,
  entity: z
    .object({
      _id: z.string(),
      channelId: z.string(),
      entityType: z.string().describe("For example `player`"),
      externalId: z.string().describe("The provider's id"),
      name: z.string().describe("Empty if no event has named it"),
      image: z.string().nullable(),
      team: z.string().nullable(),
      facts: z
        .record(z.string(), z.object({ value: z.union([z.string(), z.number(), z.boolean()]), at: Time }))
        .describe("The latest value of each fact"),
      at: Time.describe("When it was last reported"),
    })
    .describe("Replaces the one with the same `_id`"),
});
/** A new or corrected key play of the channel's match facts. Not sent to new viewers: load the list. */
export const KeyPlayUpdated = z.object({
  type: z.literal("keyPlay.updated"),
  ...held,
  keyPlay: z
    .object({
      _id: z.string(),
      channelId: z.string(),
      kind: z.string().describe("For example `goal`"),
      title: z.string(),
      description: z.string().nullable(),
      entityId: z.string().nullable().describe("The entity that it is about"),
      mediaTime: z.number().nullable().describe("Seconds of media time to jump to"),
      at: Time,
    })
    .describe("Replaces the one with the same `_id`"),
});
/**
 * Questions that aren't public have been asked or decided on, at most twice a second per channel. Sent only to those who moderate the
 * channel's questions, and without content: load the questions again, which checks that they still may.
 */
export const QuestionsChanged = z.object({ type: z.literal("questions.changed"), ...held });
/**
 * A rundown of the channel has changed: an item was taken, cleared or armed, it was edited or held, or an operator has come or gone. Sent only
 * to accounts that may run the channel, and without content: load the rundown again, which checks that they still may.
 */
export const RundownChanged = z.object({ type: z.literal("rundown.changed"), ...held, rundownId: z.string() });
/** Sent only to the account's own viewers. Not logged: a new connection starts with the current tags. */
export const AccountChanged = z.object({
  type: z.literal("account.changed"),
  ...held,
  data: z.object({
    _id: z.string().describe("The account"),
    tags: z.array(z.string()).describe("Its current tags; overlays for other tags are no longer sent"),
  }),
});
/**
 * The viewer is in other segments of the site than before. Not logged: a new connection starts with the current ones. Load what depends on
 * the viewer again, such as the page's panels.
 */
export const AudienceChanged = z.object({ type: z.literal("audience.changed"), ...held });
/** The response to a `vote`, sent only to its sender. */
export const VoteResult = z.object({
  type: z.literal("vote.result"),
  ...held,
  id: z.string().describe("The `id` of the vote"),
  ok: z.boolean().describe("Whether the vote counts; a retry of a counted vote gets the same result"),
  code: z.string().optional().describe("Why it doesn't: an error code of the API"),
  message: z.string().optional().describe("Why it doesn't, as a sentence"),
  charged: z.number().int().optional().describe("What the vote has cost, if the poll costs something"),
  balance: z.number().int().optional().describe("The wallet's balance after paying for it"),
});
export const Drain = z.object({ type: z.literal("drain"), ...held, reconnectIn: z.number().int().describe("Milliseconds; add jitter") });
/** The response to a `ping` frame; the text `ping` gets the text `pong`. */
export const Pong = z.object({ type: z.literal("pong"), ...held });
export const RealtimeError = z.object({
  type: z.literal("error"),
  code: z.string(),
  message: z.string(),
  close: z
    .number()
    .int()
    .optional()
    .describe("The code that the socket closes with after this frame; a Server-Sent Events stream has no close codes and just ends"),
});

/** Frames in the log: ordered, stored, and replayed on resume. */
export const LoggedFrame = z.discriminatedUnion("type", [
  OverlayShow,
  OverlayClear,
  StreamLive,
  StreamOffline,
  PageUpdated,
  QuestUpdated,
  Rule,
]);

/** State frames: the latest wins, none is stored. */
export const StateFrame = z.discriminatedUnion("type", [
  Concurrents,
  PollUpdated,
  QuestionUpdated,
  LeaderboardUpdated,
  EntityUpdated,
  KeyPlayUpdated,
  QuestionsChanged,
  RundownChanged,
  AccountChanged,
  AudienceChanged,
]);

export const ServerFrame = z.discriminatedUnion("type", [
  ...LoggedFrame.options,
  ...StateFrame.options,
  Welcome,
  VoteResult,
  Pong,
  Drain,
  RealtimeError,
  ChatHistory,
  ChatMessages,
  ChatUpdated,
  ChatSettingsChanged,
  ChatResult,
]);

/** A WebSocket message is one frame, or an ordered list of frames if several arrived within 50 ms (100 ms during a burst). */
export const ServerMessage = z.union([ServerFrame, z.array(ServerFrame)]);

/** The text that keeps a socket alive; the platform responds with `pong` without waking the object. */
export const PING = "ping";
export const PONG = "pong";

const Name = z.string().min(1).max(64);

/** Acknowledges the position that a viewer has reached. */
export const Ack = z.strictObject({
  type: z.literal("ack"),
  seq: Seq.describe("The last `upTo`: every frame up to it has been displayed. Covers all earlier ones; send at most a few per second"),
});
/** Reports the playback position of a viewer. */
export const Watch = z.strictObject({
  type: z.literal("watch"),
  videoId: Name.describe("The video that is playing"),
  mediaTime: z
    .number()
    .nonnegative()
    .describe("Media time in seconds; report it every few seconds, and the time between reports counts as watched"),
});
export const PanelOpened = z.strictObject({ type: z.literal("panel"), panelId: Name.describe("The panel that the viewer opened") });
/** A vote in a poll; `vote.result` reports whether it counts. */
export const Vote = z.strictObject({
  type: z.literal("vote"),
  pollId: z.string().regex(ID_PATTERN).describe("An open poll"),
  answerId: Name.describe("One of its answers"),
  id: Name.describe("The viewer's own id for this vote: a retry with the same id counts once; `vote.result` returns it"),
  cost: z.number().int().nonnegative().optional().describe("The poll's `responseCost`, if it has one: what the viewer has agreed to pay"),
});

/** For clients that only send JSON. The text `ping` does the same without waking the object. */
export const Ping = z.strictObject({ type: z.literal("ping") });

export const ViewerFrame = z.discriminatedUnion("type", [Ack, Watch, PanelOpened, Vote, Ping, ChatJoin, ChatLeave, ChatSend, ChatReact]);

/** Why the server closes a socket. Rejections use these codes too, because browsers can't read the HTTP status. */
export const CLOSE = {
  badFrame: 4400,
  /** The upgrade request was invalid. */
  badRequest: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  notFound: 4404,
  tooSlow: 4408,
  tooMany: 4429,
  internal: 1011,
  /** Retry later. */
  unavailable: 1013,
  /** The viewer's position can't be resumed: reconnect and receive the full state. */
  startOver: 1012,
} as const;

/** A question in a `question.updated`. */
export type SentQuestion = z.infer<typeof QuestionUpdated>["question"];
/** A leaderboard in a `leaderboard.updated`. */
export type SentLeaderboard = z.infer<typeof LeaderboardUpdated>["leaderboard"];
/** Of these, viewers learn only that they have happened. */
export type HiddenChange = Omit<z.infer<typeof QuestionsChanged>, "upTo"> | Omit<z.infer<typeof RundownChanged>, "upTo">;
/** An entity in an `entity.updated`. */
export type SentEntity = z.infer<typeof EntityUpdated>["entity"];
/** A key play in a `keyPlay.updated`. */
export type SentKeyPlay = z.infer<typeof KeyPlayUpdated>["keyPlay"];
export type LoggedFrame = z.infer<typeof LoggedFrame>;
export type OverlayShow = z.infer<typeof OverlayShow>;
export type ServerFrame = z.infer<typeof ServerFrame>;
export type ViewerFrame = z.infer<typeof ViewerFrame>;

/** The frames that an output may send; the others take part. */
export const OUTPUT_FRAMES: ReadonlySet<string> = new Set(["ack", "ping", "watch", "panel"]);
