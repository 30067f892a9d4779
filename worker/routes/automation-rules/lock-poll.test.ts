import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { idOf, pollCalls } from "#test/polls.ts";
import { goal, newDataProvider, newRule, sendProviderEvent, type TestProvider } from "#test/providers.ts";
import { ReceivedEvent } from "#worker/services/data-providers/schemas.ts";

let site: TestSite;
let provider: TestProvider;
const { newPoll, answer, read, results } = pollCalls(() => site);
let poll: Awaited<ReturnType<typeof newPoll>>;

/** A prediction that the first goal locks. */
beforeEach(async () => {
  site = await newSite();
  provider = await newDataProvider(site);
  poll = await newPoll();
  await newRule(site, lockRule(poll._id));
});

function lockRule(pollId: string) {
  const trigger = { dataProviderId: provider.id, fact: "match.score.home", operator: "greater_than", value: 0, behavior: "immediate" };
  return { name: "Lock at the first goal", active: true, jsonRule: { trigger, action: { type: "LOCK_POLL", pollId } } };
}

describe("a provider's event that a LOCK_POLL rule waits for", () => {
  test("has closed the prediction when its request returns: no response counts from then on", async () => {
    expect((await answer(poll._id, idOf(poll, 0))).status).toBe(201);
    expect((await sendProviderEvent(site, provider, goal(1))).status).toBe(202);
    expect((await answer(poll._id, idOf(poll, 1), "reader")).problem).toMatchObject({ status: 409, code: "poll_closed" });
    expect(await read(poll._id)).toMatchObject({ open: false });
    expect((await results(poll._id)).total).toBe(1);
  });

  test("says so on viewers' screens, and in the event's firings", async () => {
    const viewer = await openSocket(site, site.channels[0]);
    await viewer.first("welcome");
    const { eventId } = (await sendProviderEvent(site, provider, goal(1))).as(ReceivedEvent);
    const closed = await viewer.when(
      (frame) => frame.type === "poll.updated" && frame.data["pollId"] === poll._id && frame.data["open"] === false,
    );
    expect(closed).toMatchObject({ data: { answers: poll.answers.map(({ _id }) => ({ answerId: _id })) } });
    const listed = () => site.call("listProviderEvents", { params: { providerId: provider.id } });
    const fired = [{ name: "Lock at the first goal", outcome: "locked" }];
    await vi.waitFor(async () => expect((await listed()).body).toMatchObject({ results: [{ _id: eventId, fired }] }));
  });

  test("leaves the prediction open while the condition doesn't hold", async () => {
    await sendProviderEvent(site, provider, goal(0));
    expect((await answer(poll._id, idOf(poll, 0))).status).toBe(201);
  });

  test("locks a prediction once: one that a producer opens again stays open", async () => {
    const event = goal(1);
    const headers = { "Tifo-Event-Id": "first-goal" };
    await sendProviderEvent(site, provider, event, headers);
    await site.call("patchPoll", { params: { id: poll._id }, body: { open: true } });
    await sendProviderEvent(site, provider, event, headers);
    await env.SITE_LOG.getByName(site.id).nudge();
    expect((await answer(poll._id, idOf(poll, 0))).status).toBe(201);
  });

  test("reports that the prediction was deleted, and the other rules fire", async () => {
    const second = await newPoll({ name: "Second" });
    await newRule(site, { ...lockRule(second._id), name: "Second" });
    await site.call("deletePoll", { params: { id: poll._id } });
    await sendProviderEvent(site, provider, goal(1));
    await vi.waitFor(async () => expect(await read(second._id)).toMatchObject({ open: false }));
  });
});

test("a rule can't lock a prediction of another site", async () => {
  const other = await newSite();
  const foreign = await newPoll({}, other);
  const response = await site.call("createAutomationRule", { body: lockRule(foreign._id) });
  expect([response.status, response.fields]).toEqual([400, ["jsonRule.action.pollId"]]);
});
