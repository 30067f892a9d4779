import { z } from "@hono/zod-openapi";
import { CHANNEL_1 } from "#db/demo/match-day.ts";
import { say } from "../report.mjs";
import { bodyOf } from "./api.ts";
import { openDesk } from "./desk.ts";
import { nameOf, supporter } from "./fans.ts";

// The questions of the match: asked by supporters, approved by a moderator, answered at half-time, one of them on screen.

const ASKED = [
  { minute: 5, fan: 5, text: "Why does Lindqvist play on the left today?", votes: 6 },
  { minute: 12, fan: 10, text: "How long did you practise that corner?", votes: 3 },
  {
    minute: 20,
    fan: 17,
    text: "Moreno, what did you see before the goal?",
    votes: 11,
    answer: "The keeper one step too far out. Then I closed my eyes.",
  },
  { minute: 33, fan: 19, text: "Can I have the referee's phone number?", votes: 0 },
] as const;

const Question = z.object({ _id: z.string() });

type Clock = (minute: number) => Promise<void>;

export async function playQuestions(url: string, until: Clock): Promise<void> {
  const ids: string[] = [];
  for (const { minute, fan, text, votes } of ASKED) {
    await until(minute);
    const ask = await supporter(url, fan);
    const asked = await ask("POST", `/qna/v1/${CHANNEL_1}/questions`, { text });
    const { _id } = Question.parse(bodyOf(asked));
    ids.push(_id);
    const desk = await openDesk(url);
    bodyOf(await desk("PUT", `/qna/v1/questions/${_id}`, { state: votes > 0 ? "approved" : "dismissed" }));
    for (let other = 1; other <= votes; other++) {
      const call = await supporter(url, (fan + other) % 20);
      const upvoted = await call("PUT", `/qna/v1/questions/${_id}/upvote`);
      // One of them may be banned by now, or the question answered.
      if (![403, 409].includes(upvoted.status)) bodyOf(upvoted);
    }
    if (votes > 0) say(`     Question by ${nameOf(fan)}: ${text} (${votes + 1} votes)`);
  }
  await until(45.5);
  const desk = await openDesk(url);
  for (const [index, question] of ASKED.entries()) {
    if (!("answer" in question)) continue;
    const id = ids[index] ?? "";
    bodyOf(await desk("POST", `/qna/v1/questions/${id}/broadcast`, { kind: "kit" }));
    bodyOf(await desk("PUT", `/qna/v1/questions/${id}`, { state: "answered", answer: question.answer }));
    say(`     On screen: ${question.text}`);
  }
}
