import { expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { recordedServer } from "./recorded-server.ts";
import { ANSWERS, CHAT, GOALS, POLL, RECORDED, recordedBroadcasts, SECONDS, viewersAt } from "./recorded-show.ts";

const Frame = z.object({ type: z.string() }).loose();
const Results = z.object({
  open: z.boolean(),
  total: z.number(),
  answers: z.array(z.object({ answerId: z.string(), responses: z.number() })),
});

/** A viewer of the recording whose video is at `time`. */
async function join() {
  const at = { time: 0 };
  const server = recordedServer(() => at.time);
  const frames: z.output<typeof Frame>[] = [];
  const socket = server.environment.openSocket("wss://recorded.invalid");
  socket.addEventListener("message", ({ data }: { data: unknown }) => frames.push(Frame.parse(JSON.parse(String(data)))));
  await settled();
  return {
    frames,
    last: (type: string) => frames.findLast((frame) => frame.type === type),
    play(time: number) {
      at.time = time;
      server.update();
    },
    async send(frame: object) {
      socket.send(JSON.stringify(frame));
      await settled();
    },
    async read(path: string) {
      const response = await server.fetch(new Request(`https://tifo.example${path}`));
      const body: unknown = await response.json();
      return { status: response.status, body };
    },
    now: () => server.environment.now(),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function results(viewer: Awaited<ReturnType<typeof join>>) {
  const [{ results: counted }] = z.tuple([z.object({ results: Results })]).parse((await viewer.read("/poll/v3/states")).body);
  return counted;
}

test("the recorded channel welcomes a viewer with the number of viewers", async () => {
  const viewer = await join();
  expect(viewer.last("welcome")).toMatchObject({ recovered: false, overlays: [], concurrents: viewersAt(0), now: viewer.now() });
});

test("the recorded channel's clock is the video's, so that a paused video pauses the overlays", async () => {
  const viewer = await join();
  const before = viewer.now();
  viewer.play(12.5);
  expect(viewer.now() - before).toBe(12_500);
  expect(viewer.now() - before).toBe(12_500);
});

test("a visitor's vote counts once, and for the last answer that they chose", async () => {
  const viewer = await join();
  viewer.play(20);
  const before = await results(viewer);
  await viewer.send({ type: "vote", id: "1", pollId: RECORDED.pollId, answerId: ANSWERS[1].id });
  await viewer.send({ type: "vote", id: "2", pollId: RECORDED.pollId, answerId: ANSWERS[2].id });
  expect(viewer.last("vote.result")).toMatchObject({ id: "2", ok: true });
  const after = await results(viewer);
  expect(after.answers.map(({ responses }, index) => responses - (before.answers[index]?.responses ?? 0))).toEqual([0, 0, 1]);
  expect(after.total).toBe(before.total + 1);
});

test("the recorded poll closes at its time, names the winner, and accepts no vote after that", async () => {
  const viewer = await join();
  viewer.play(POLL.closes - 0.1);
  expect((await results(viewer)).open).toBe(true);
  viewer.play(POLL.closes);
  await viewer.send({ type: "vote", id: "late", pollId: RECORDED.pollId, answerId: ANSWERS[0].id });
  expect(viewer.last("vote.result")).toMatchObject({ id: "late", ok: false, code: "poll_closed" });
  expect(viewer.last("poll.updated")).toMatchObject({ data: { open: false, correctAnswerId: POLL.winner } });
});

test("votes never become fewer while the video plays", async () => {
  const viewer = await join();
  let total = 0;
  for (let time = 0; time <= SECONDS; time += 5) {
    viewer.play(time);
    const next = await results(viewer);
    expect(next.total).toBeGreaterThanOrEqual(total);
    total = next.total;
  }
});

test("each line of the recorded chat is sent once, also if the viewer goes back", async () => {
  const viewer = await join();
  viewer.play(SECONDS);
  viewer.play(10);
  viewer.play(SECONDS);
  expect(viewer.frames.filter(({ type }) => type === "chat.messages")).toHaveLength(CHAT.length);
});

test("a visitor's message is in the chat, and in the history of who joins it later", async () => {
  const viewer = await join();
  await viewer.send({ type: "chat.send", id: "m1", text: "Hello" });
  expect(viewer.last("chat.messages")).toMatchObject({ messages: [{ text: "Hello", name: "You" }] });
  expect(viewer.last("chat.result")).toMatchObject({ id: "m1", ok: true });
  await viewer.send({ type: "chat.join" });
  expect(viewer.last("chat.history")).toMatchObject({ messages: [{ text: "Hello" }] });
});

test("the recorded server responds with the channel's page and poll, and with 404 to anything else", async () => {
  const viewer = await join();
  expect((await viewer.read(`/page/v2/configuration/${RECORDED.channelId}`)).body).toMatchObject({ page: { _id: RECORDED.channelId } });
  expect((await viewer.read("/poll/v3/states")).body).toMatchObject([{ poll: { question: POLL.question, open: true }, responses: [] }]);
  expect((await viewer.read("/quest/v2/5eed00000000000000007001")).status).toBe(404);
});

test("every recorded broadcast begins and ends with the video, and each goal changes the score", () => {
  const broadcasts = recordedBroadcasts();
  for (const { timecode = -1, startsAt, endsAt } of broadcasts) {
    expect(timecode).toBeGreaterThanOrEqual(0);
    expect(timecode).toBeLessThan(SECONDS);
    expect(endsAt).toBeGreaterThan(startsAt);
  }
  for (const goal of GOALS) {
    const shown = broadcasts.filter(({ timecode }) => timecode === goal).flatMap(({ contents }) => contents);
    expect(shown.map((content) => content.kind === "kit" && content.template)).toEqual(["goal", "scorebug"]);
  }
  expect(new Set(broadcasts.map(({ broadcastId }) => broadcastId)).size).toBe(broadcasts.length);
});

test("the result appears in the match's last minute, and each goal in its own", () => {
  for (const { contents, timecode = 0 } of recordedBroadcasts()) {
    const minute = timecode / 2;
    for (const content of contents) {
      if (content.kind !== "kit") continue;
      if (content.template === "final-result") expect(minute).toBeGreaterThan(89);
      if (content.template === "goal") expect(`${Math.floor(minute)}′`).toBe(content.variables.moment);
    }
  }
});
