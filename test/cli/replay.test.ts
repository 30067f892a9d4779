import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "#cli/run.ts";
import { variablesOf } from "#cli/lib/values.ts";
import { fakeIo, type FakeIo, temporaryFolder } from "./fake-io.ts";

const SITE = { TIFO_ORIGIN: "https://tifo.example.com", TIFO_SITE_ID: "5eed00000000000000000001", TIFO_DEVELOPER_KEY: "tifo_dev_test" };
const CHANNEL = "5eed0000000000000000c001";
const PROVIDER = "5eed000000000000000da001";
const GOAL = [{ kind: "html", html: "<b>Goal</b>", position: "center" }];
const FOREIGN = [{ kind: "rive", mediaId: "5eed00000000000000000111", fileName: "goal.riv", position: "center" }];

const frame = (at: number, contents: object[] = GOAL) =>
  JSON.stringify({ type: "overlay.show", seq: 1, startsAt: at, endsAt: at + 20_000, contents, cta: null, priority: 5 });

function fileWith(...lines: string[]): string {
  const file = join(temporaryFolder(), "match.jsonl");
  writeFileSync(file, lines.join("\n"));
  return file;
}

interface Sent {
  call: string;
  /** Milliseconds after the start. */
  at: number;
  body: unknown;
}

/** A site that accepts everything but files of another site. */
function newSite(): { io: FakeIo; sent: Sent[] } {
  const sent: Sent[] = [];
  const io = fakeIo(async (request) => {
    const text = await request.text();
    sent.push({
      call: `${request.method} ${new URL(request.url).pathname}`,
      at: io.slept,
      body: text === "" ? undefined : JSON.parse(text),
    });
    if (text.includes("mediaId")) return Response.json({ code: "invalid_request", message: "No such file" }, { status: 400 });
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    return Response.json({ _id: "5eed0000000000000000a0ff", eventId: "e", message: "Event accepted" }, { status: 201 });
  });
  Object.assign(io.env, SITE);
  return { io, sent };
}

test("a recording is replayed at its pace, with one overlay for equal broadcasts, which is deleted at the end", async () => {
  const { io, sent } = newSite();
  const file = fileWith(frame(70_000), '{"type":"welcome"}', "", frame(10_000), frame(40_000));
  expect(await run(["replay", file, "--channel", CHANNEL, "--speed", "10"], io)).toBe(0);
  expect(sent.map(({ call, at }) => [call, at])).toEqual([
    ["POST /overlay/v1", 0],
    ["POST /overlay/v1/broadcast/5eed0000000000000000a0ff", 0],
    ["POST /overlay/v1/broadcast/5eed0000000000000000a0ff", 3000],
    ["POST /overlay/v1/broadcast/5eed0000000000000000a0ff", 6000],
    ["DELETE /overlay/v1/5eed0000000000000000a0ff", 6000],
  ]);
  expect(sent[1]?.body).toEqual({ channelId: CHANNEL, duration: 2, priority: 5 });
});

test("what the site doesn't accept is skipped, and the exit code says so", async () => {
  const { io } = newSite();
  expect(await run(["replay", fileWith(frame(0, FOREIGN), frame(1)), "--channel", CHANNEL, "--json"], io)).toBe(1);
  expect(io.shown).toEqual(['{"sent":1,"skipped":1}']);
  expect(io.notes[0]).toBe("Skipped: No such file");
});

test("an interrupted replay sends nothing more, and deletes its overlays", async () => {
  const { io, sent } = newSite();
  io.sleep = async () => io.abort();
  expect(await run(["replay", fileWith(frame(0), frame(60_000)), "--channel", CHANNEL], io)).toBe(130);
  expect(sent.map(({ call }) => call.split("/")[0])).toEqual(["POST ", "POST ", "DELETE "]);
});

test("recorded events are sent with the provider's signature, without the key, and keep their ids", async () => {
  const { io, sent } = newSite();
  io.env.TIFO_PROVIDER_SECRET = "tifo_dp_test";
  expect(await run(["replay", fileWith('{"at":0,"id":"goal-1","event":{"goal":"home"}}'), "--provider", PROVIDER], io)).toBe(0);
  expect(sent).toEqual([{ call: `POST /dataprovider/v1/${PROVIDER}/events`, at: 0, body: { goal: "home" } }]);
  const { headers } = io.requests[0] ?? new Request(SITE.TIFO_ORIGIN);
  expect(headers.get("Tifo-Signature")).toBe(
    createHmac("sha256", "tifo_dp_test")
      .update(`${headers.get("Tifo-Timestamp")}.{"goal":"home"}`)
      .digest("hex"),
  );
  expect([headers.get("Tifo-Event-Id"), headers.get("Tifo-Developer-Key")]).toEqual(["goal-1", null]);
});

test.each([
  ["not JSON", "Line 1 isn't a JSON object."],
  ['{"at":1}', "Line 1 is neither a frame nor an event"],
  ['{"type":"overlay.show"}', "Line 1 isn't a complete overlay.show frame."],
  ["", "The recording is empty."],
])("a file with %j is rejected before anything is sent", async (line, message) => {
  const { io, sent } = newSite();
  expect(await run(["replay", fileWith(line), "--channel", CHANNEL], io)).toBe(2);
  expect(io.notes[0]).toContain(message);
  expect(sent).toEqual([]);
});

test("record prints every page of a channel's recording", async () => {
  const io = fakeIo(({ url }) => {
    const cursor = new URL(url).searchParams.get("cursor");
    return Response.json({ results: [{ seq: cursor === null ? 1 : 2 }], next: cursor === null ? "1-1" : null });
  });
  Object.assign(io.env, SITE);
  expect(await run(["record", CHANNEL, "--from", "90m"], io)).toBe(0);
  expect(io.shown).toEqual(['{"seq":1}', '{"seq":2}']);
  expect(new URL(io.requests[0]?.url ?? "").searchParams.get("from")).toBe(String(io.now() - 90 * 60_000));
});

test("the values of --var have the types that they look like, unless they are quoted", () => {
  expect(variablesOf(["minute=17", "home=true", "shirt=007", 'name="17"', "equation=a=b", "empty="])).toEqual({
    minute: 17,
    home: true,
    shirt: "007",
    name: "17",
    equation: "a=b",
    empty: "",
  });
});
