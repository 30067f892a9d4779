import { z } from "@hono/zod-openapi";
import type { CallOptions, TestSite } from "./harness.ts";

const WithAnswers = z.array(z.object({ _id: z.string() })).min(1);

/** Bodies that contain an answer id of the poll in the path. */
export const POLL_BODIES: Record<string, (site: TestSite, params: CallOptions["params"]) => Promise<Record<string, string>>> = {
  respondToPoll: async (site, params) => ({ answerId: await firstAnswer(site, params) }),
  settlePoll: async (site, params) => ({ correctAnswerId: await firstAnswer(site, params) }),
};

async function firstAnswer(site: TestSite, params: CallOptions["params"]): Promise<string> {
  const answers = (await site.call("listPollAnswers", { as: "client", ...(params && { params }) })).as(WithAnswers);
  return answers[0]?._id ?? "";
}
