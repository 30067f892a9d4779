import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { newSite, type TestAccount, type TestSite } from "../harness.ts";
import { type Chatter, enterChat, roomOf } from "./chatters.ts";

// What each viewer of a room sees, whatever happens in it, equals this model.

interface Sent {
  id: string;
  author: number;
  state: "visible" | "held" | "removed";
  muted: boolean;
}

const SENDERS = 3;
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("send" as const), who: fc.nat(SENDERS) }) },
  fc.record({ kind: fc.constantFrom("remove" as const, "approve" as const), nth: fc.nat(9) }),
  fc.record({ kind: fc.constant("premoderate" as const), on: fc.boolean() }),
  fc.record({ kind: fc.constant("mute" as const), who: fc.nat(SENDERS - 1) }),
);

let site: TestSite;
let moderator: TestAccount;

beforeAll(async () => {
  site = await newSite();
  moderator = await site.addAccount("Mod", [{ scope: "Chat_Moderator", pageId: [], write: true }]);
});

/** The messages that a viewer sees, by their state; `null` is an anonymous viewer, and the last author is the moderator. */
function expectedFor(viewer: number | null, sent: Sent[]): Record<string, string> {
  const visible = sent.filter(({ author, state, muted }) => {
    if (state === "removed") return false;
    return viewer === SENDERS || (state === "visible" && !muted) || author === viewer;
  });
  return Object.fromEntries(visible.map(({ id, state }) => [id, state]));
}

/** Without removed messages, which only moderators who had received them still see. */
function seenBy(chatter: Chatter): Record<string, string> {
  return Object.fromEntries([...chatter.screen].flatMap(([id, { state }]) => (state === "removed" ? [] : [[id, state]])));
}

test("what each viewer of a room sees equals the model", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 14 }), async (actions) => {
      const channel = await site.addChannel(`room-${newId(Date.now())}`);
      const room = roomOf(site, channel);
      const accounts = await Promise.all(Array.from({ length: SENDERS }, (_, n) => site.addAccount(`s${n}-${newId(Date.now())}`, [])));
      const authors = [...accounts, moderator];
      const viewers = [...(await Promise.all(authors.map((account) => enterChat(site, channel, account)))), await enterChat(site, channel)];
      const sent: Sent[] = [];
      const muted = new Set<number>();
      let premoderate = false;
      for (const step of actions) {
        if (step.kind === "send") {
          const accountId = authors[step.who]?.id ?? "";
          const request = { accountId, requestId: newId(Date.now()), text: "Hi", replyTo: null, language: null, fresh: false };
          const outcome = await room.send(request);
          // The model leaves rate limits out.
          if (!outcome.ok) continue;
          const isMuted = muted.has(step.who);
          const isHeld = premoderate && !isMuted && step.who !== SENDERS;
          sent.push({ id: outcome.messageId, author: step.who, state: isHeld ? "held" : "visible", muted: isMuted });
        } else if (step.kind === "premoderate") {
          premoderate = step.on;
          await site.call("replaceChatSettings", { params: { channelId: channel }, body: { premoderate } });
        } else if (step.kind === "mute") {
          muted.add(step.who);
          const body = { accountId: authors[step.who]?.id ?? "", kind: "mute", channelId: channel };
          await site.call("banFromChat", { body });
        } else {
          const message = sent[step.nth];
          if (!message) continue;
          if (step.kind === "remove") await room.remove(message.id);
          else await room.approve(message.id);
          if (step.kind === "remove") message.state = "removed";
          else if (message.state === "held") message.state = "visible";
        }
      }
      for (const [index, viewer] of viewers.entries())
        await expect.poll(() => seenBy(viewer)).toEqual(expectedFor(index < authors.length ? index : null, sent));
      // Who joins later sees the same, except that removed messages are in no history.
      const late = await enterChat(site, channel);
      expect(seenBy(late)).toEqual(expectedFor(null, sent));
      const numbers = [...late.screen.values()].map(({ chatSeq }) => chatSeq);
      expect(new Set(numbers).size).toBe(numbers.length);
    }),
    { numRuns: 12 },
  );
});
