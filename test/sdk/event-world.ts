import { browserEnvironment, type Environment } from "#sdk/channel/index.ts";
import { type FrameListeners, type WatchedEvent, watchEvent } from "#sdk/core/event.ts";
import { createSession } from "#sdk/core/session.ts";
import type { TifoEventDelegate } from "#sdk/model/event-delegate.ts";
import type { TifoEventState } from "#sdk/model/state.ts";
import { FakeChannel } from "./fake-channel.ts";
import { seededRandom, Network, VirtualTime } from "./virtual-network.ts";

export const SITE = "5eed00000000000000000001";
export const CHANNEL = "5eed0000000000000000c001";
export const PREDICTOR = "5eed0000000000000000d007";
export const QUESTS = "5eed0000000000000000d008";
export const POLL = "5eed00000000000000006001";
export const QUEST = "5eed00000000000000006101";
export const [HOME, AWAY] = ["5eed00000000000000600101", "5eed00000000000000600102"];

/** The poll's results, as in the API and in `poll.updated`. */
export function results(home: number, away: number, rest: object = {}) {
  const total = home + away;
  const answer = (answerId: string, text: string, responses: number) => ({
    answerId,
    answer: text,
    responses,
    share: total === 0 ? 0 : responses / total,
  });
  return { pollId: POLL, open: true, hidden: false, total, answers: [answer(HOME, "Home", home), answer(AWAY, "Away", away)], ...rest };
}

/** Responses of the REST API by `METHOD path`, which a test can replace. */
export function restResponses(quests: string[]): Record<string, (request: Request) => unknown> {
  return {
    [`GET /page/v2/configuration/${CHANNEL}`]: () => ({
      page: { _id: CHANNEL, slug: "main-stage", type: "channel", name: "Main stage" },
      site: { _id: SITE },
      insights: { _id: "view", version: 1 },
      theme: {
        ...{ name: "Floodlight", type: "custom", mode: "dark", colors: { accent: "#4B3FD1" } },
        button: { borderRadius: "rounded", textCapitalization: "original" },
        typography: { headline: "system-ui", body: "system-ui" },
      },
      panels: [
        panel(PREDICTOR, "quick_pick", "Match predictor", { questions: [{ array_id: "derbyRes1", poll_id: POLL }] }),
        panel(QUESTS, "quests", "Derby quests", { quests: quests.map((quest_id) => ({ array_id: "firstHal1", quest_id })) }),
      ],
    }),
    [`GET /poll/v3/${POLL}`]: () => ({
      _id: POLL,
      type: "prediction",
      question: "Who wins the derby?",
      open: true,
      answers: [
        { _id: HOME, pollId: POLL, answer: "Home", imageUrl: null },
        { _id: AWAY, pollId: POLL, answer: "Away", imageUrl: null },
      ],
    }),
    [`GET /poll/v3/${POLL}/results`]: () => results(1, 1),
    [`GET /poll/v3/${POLL}/responses`]: () => [],
    [`POST /poll/v3/${POLL}/responses`]: () => ({ _id: "r", pollId: POLL, answerId: HOME }),
    [`GET /quest/v2/${QUEST}`]: () => ({
      _id: QUEST,
      title: "First half hero",
      description: "",
      rewardDescription: "A scarf",
      actions: [{ arrayId: "watchTen1", body: "Watch ten minutes" }],
    }),
    [`GET /quest/v2/${QUEST}/progress`]: () => progress(4),
    [`POST /quest/v2/${QUEST}/actions/watchTen1`]: () => progress(5),
    [`POST /quest/v2/${QUEST}/claim`]: () => ({ _id: "c", questId: QUEST, status: "PENDING" }),
    [`GET /claimstatus/v3/${QUEST}`]: () => null,
    "POST /realtime/v1/tickets": () => ({ ticket: "once", expiresAt: 0 }),
  };
}

export function progress(current: number) {
  const done = current >= 10;
  const action = { arrayId: "watchTen1", kind: "watch:any:video", current, required: 10, done };
  return { questId: QUEST, accountId: "5eed0000000000000000a003", complete: done, actions: [action] };
}

function panel(_id: string, panel_type: string, panel_name: string, renderer: object) {
  return { _id, slug: "panel", panel_name, panel_type, icon_name: null, renderer: { panel_type, panel_name, ...renderer } };
}

/** An error response of the API. */
export class ApiError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    this.status = status;
    this.code = code;
  }
}

/** A viewer of one event, with a simulated channel and REST API. */
export class EventWorld {
  readonly time = new VirtualTime();
  readonly channel = new FakeChannel();
  readonly network: Network;
  /** Ids of the quests that the page shows. */
  readonly quests = [QUEST];
  readonly rest = restResponses(this.quests);
  /** `METHOD path` of every request. */
  readonly requests: string[] = [];

  /** Whether the page is hidden. */
  hidden = false;

  constructor(seed = 1) {
    this.network = new Network(this.time, seededRandom(seed), this.channel);
    const polls = (id: string) => ({
      poll: `GET /poll/v3/${id}`,
      results: `GET /poll/v3/${id}/results`,
      responses: `GET /poll/v3/${id}/responses`,
    });
    const quests = (id: string) => ({
      quest: `GET /quest/v2/${id}`,
      progress: `GET /quest/v2/${id}/progress`,
      claim: `GET /claimstatus/v3/${id}`,
    });
    this.rest["GET /poll/v3/states"] = (request) => this.#states(request, polls);
    this.rest["GET /quest/v2/states"] = (request) => this.#states(request, quests);
  }

  /** The states of the ids in the query, whose fields are what these calls return. */
  async #states(request: Request, callsOf: (id: string) => Record<string, string>): Promise<unknown> {
    const ids = new URL(request.url).searchParams.get("ids")?.split(",") ?? [];
    const states = await Promise.all(
      ids.map(async (id) => {
        const calls = Object.entries(callsOf(id));
        const fields = await Promise.all(calls.map(async ([name, call]) => [name, await this.rest[call]?.(request)] as const));
        return Object.fromEntries(fields);
      }),
    );
    const failure = states.flatMap((fields) => Object.values(fields)).find((field) => field instanceof ApiError && field.status !== 404);
    return (
      failure ?? states.filter((fields) => Object.values(fields).every((field) => field !== undefined && !(field instanceof ApiError)))
    );
  }

  get environment(): Environment {
    return { ...browserEnvironment, ...this.network.environment() };
  }

  /** Replaces the global `fetch`. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const call = `${request.method} ${new URL(request.url).pathname}`;
    this.requests.push(call);
    const result = await this.rest[call]?.(request);
    if (result instanceof ApiError) return Response.json({ code: result.code, message: result.code }, { status: result.status });
    return result === undefined ? Response.json({ code: "not_found" }, { status: 404 }) : Response.json(result);
  };

  /** `clockOffset`: ms by which the device's clock is ahead. */
  watch(delegate?: TifoEventDelegate, clockOffset = 0, listeners?: FrameListeners): WatchedEvent {
    const configuration = { clientId: SITE, origin: "https://tifo.example", deviceId: "device", delegate };
    const environment = { ...this.environment, now: () => this.time.now + clockOffset, hidden: () => this.hidden };
    return watchEvent(createSession(configuration, undefined, environment), CHANNEL, listeners);
  }

  /** Advances the time until the condition holds. */
  async until(condition: () => boolean, expected = "the expected state"): Promise<void> {
    for (let turn = 0; turn < 2_000; turn++) {
      if (condition()) return;
      await this.advance(50);
    }
    throw new Error(`Waited for ${expected}`);
  }

  /** Advances the virtual time, and lets pending requests complete. */
  async advance(milliseconds: number): Promise<void> {
    await this.time.advance(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Watches, and waits for the connection, the polls and, if signed in, the quests. */
  async watchLoaded(delegate?: TifoEventDelegate, clockOffset?: number): Promise<WatchedEvent> {
    const event = this.watch(delegate, clockOffset);
    const loaded = ({ connection, polls, quests, authenticated }: TifoEventState) =>
      connection === "live" && polls[POLL] !== undefined && (!authenticated || quests[QUEST] !== undefined);
    await this.until(() => loaded(event.getSnapshot()), "a loaded event");
    return event;
  }
}
