import type { TestSite } from "./harness.ts";
import { questionsOf } from "./questions.ts";

/** An approved question, by an account of its own: the number of questions per account is limited. */
async function approvedQuestion(site: TestSite): Promise<string> {
  return (await questionsOf(() => site).newQuestion("approved"))._id;
}

/** What the paths of these operations are about, where no operation above creates it. */
export const QUESTION_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/qna/v1/questions/{id}": approvedQuestion,
  "/qna/v1/questions/{id}/upvote": approvedQuestion,
  "/qna/v1/questions/{id}/broadcast": approvedQuestion,
};
