import { beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { type Caller, newSite, openSocket, type TestSite } from "#test/harness.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { rundownsOf } from "#test/rundowns.ts";

let site: TestSite;
const { goal, newRundown, take } = rundownsOf(() => site);

beforeAll(async () => {
  site = await newSite();
});

async function enterAs(as: Caller, channelId = site.channels[0]): Promise<TestViewer> {
  const response = await site.call("createTicket", { as, body: { channelId } });
  const viewer = await openSocket(site, channelId, { ticket: response.as(z.object({ ticket: z.string() })).ticket });
  await viewer.first("welcome");
  return viewer;
}

const hints = ({ frames }: TestViewer, rundownId: string) =>
  frames.filter((frame) => frame.type === "rundown.changed" && frame.rundownId === rundownId);
const isHint = ({ type }: { type: string }) => type === "rundown.changed";

test("operators of the channel are told that a rundown has changed; viewers and operators of other channels aren't", async () => {
  const [admin, creator] = [await enterAs("admin"), await enterAs("creator")];
  const others = [await enterAs("viewer"), await openSocket(site, site.channels[0]), await enterAs("admin", site.channels[1])];
  const rundown = await newRundown([await goal()]);
  await Promise.all([admin, creator].map((viewer) => viewer.when(isHint)));
  expect(hints(admin, rundown._id)[0]).toEqual({ type: "rundown.changed", upTo: 0, rundownId: rundown._id });
  const before = hints(admin, rundown._id).length;
  const taken = await take(rundown._id);
  await admin.when(() => hints(admin, rundown._id).length > before);
  const [viewer, stranger] = others;
  for (const each of [viewer, stranger]) await each?.when((frame) => frame.type === "overlay.show" && frame.broadcastId === taken._id);
  expect(others.map(({ frames }) => frames.filter(isHint))).toEqual([[], [], []]);
});

test("an operator who opens or leaves a rundown is announced to the others, and a sign of life isn't", async () => {
  const admin = await enterAs("admin");
  const rundown = await newRundown([]);
  const announce = (body: object) => site.call("announceOperator", { as: "creator", params: { id: rundown._id }, body });
  const count = () => hints(admin, rundown._id).length;
  await admin.when(() => count() === 1);
  await announce({});
  await admin.when(() => count() === 2);
  await announce({});
  await announce({ open: false });
  await admin.when(() => count() === 3);
  await announce({});
  await admin.when(() => count() === 4);
  expect(count()).toBe(4);
});
