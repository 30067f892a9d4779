import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { ChannelLog } from "#worker/durable-objects/channel/log.ts";
import { newId } from "#worker/lib/ids.ts";
import { atTime, evict, join, newBroadcast, newChannel, runAlarmAt, type TestChannel } from "./relay-viewer.ts";

describe("what viewers wrote", () => {
  const text = "Where do I live?";
  const personal = (change: Parameters<typeof newBroadcast>[0] = {}) =>
    newBroadcast({ contents: [{ kind: "html", html: text, position: "center" }], personal: true, ...change });

  /** All that a viewer receives who resumes from the start of the log. */
  async function resumed(channel: TestChannel, relay = 0): Promise<string> {
    const { epoch, head } = await channel.stub.snapshot(relay);
    const viewer = await join(channel, { relay, resume: { epoch, seq: 0 } });
    expect((await viewer.first("welcome")).recovered).toBe(true);
    await viewer.waitForSeq(head);
    return JSON.stringify(viewer.frames);
  }

  const stored = (channel: TestChannel) =>
    runInDurableObject(channel.stub, (_, { storage }) =>
      JSON.stringify(["frames", "broadcasts", "recording"].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray())),
    );

  test("is received while it is shown, and by nobody who resumes once it has ended", async () => {
    const channel = newChannel();
    const broadcast = personal({ endsAt: Date.now() + 600_000 });
    const viewer = await join(channel);
    await channel.stub.publish(broadcast);
    expect(await viewer.first("overlay.show")).not.toHaveProperty("personal");
    expect(await resumed(channel)).toContain(text);
    await atTime(broadcast.endsAt, async () => {
      // Before the alarm too, from the relay's memory.
      expect(await resumed(channel)).not.toContain(text);
      await runAlarmAt(channel.stub, broadcast.endsAt);
      expect(await stored(channel)).not.toContain(text);
      await evict(channel.relay());
      const frames = await resumed(channel);
      expect(frames).not.toContain(text);
      expect(frames).toContain(`"broadcastIds":["${broadcast.broadcastId}"],"ended":true`);
    });
  });

  test("stays for delayed playback until its time is over, and is gone as soon as it is cleared", async () => {
    const channel = newChannel();
    const endsAt = Date.now() + 600_000;
    const delayed = personal({ endsAt, timecode: 90 });
    await join(channel);
    for (const broadcast of [delayed, personal({ endsAt })]) await channel.stub.publish(broadcast);
    await runAlarmAt(channel.stub, endsAt);
    expect(await runInDurableObject(channel.stub, (_, { storage }) => new ChannelLog(storage).nextEnd())).toBe(endsAt + 60_000);
    expect(await atTime(endsAt, () => resumed(channel))).toContain(text);
    await channel.stub.clear({ id: newId(0), target: { broadcastIds: [delayed.broadcastId] } });
    expect(await stored(channel)).not.toContain(text);
    expect(await atTime(endsAt, () => resumed(channel))).not.toContain(text);
  });

  test("is gone with everything else that is retracted, also long after its end", async () => {
    const channel = newChannel();
    const broadcast = personal({ personal: undefined, endsAt: Date.now() + 600_000 });
    await channel.stub.publish(broadcast);
    await runAlarmAt(channel.stub, broadcast.endsAt);
    expect(await stored(channel)).toContain(text);
    await channel.stub.retract({ id: newId(0), broadcastId: broadcast.broadcastId });
    expect(await stored(channel)).not.toContain(text);
    expect(await resumed(channel)).not.toContain(text);
  });

  test("that an earlier release stored is removed once it is over, also from the recording", async () => {
    const channel = newChannel();
    const question = { html: `<section class="tifo-question">${text}</section>`, position: "center" as const };
    const shown = { ...newBroadcast({ contents: [{ kind: "html", ...question }] }), endsAt: Date.now() + 1_000 };
    await channel.stub.publish(shown);
    expect(await stored(channel)).toContain(text);
    await runInDurableObject(channel.stub, (_, { storage }) => {
      storage.sql.exec("DROP INDEX frames_personal");
      storage.sql.exec("ALTER TABLE frames DROP COLUMN personal");
      storage.sql.exec("UPDATE frames SET until = 1");
      storage.sql.exec("DELETE FROM broadcasts");
      storage.kv.put("schema:log", 3);
    });
    await evict(channel.stub);
    await channel.stub.snapshot(0);
    expect(await stored(channel)).not.toContain(text);
  });
});
