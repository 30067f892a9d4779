import { type Goal, toAnswer } from "./goal.ts";

// The least that answers the same: nothing is routed or checked.

export default {
  async fetch(request) {
    const goal = await request.json<Goal>();
    return Response.json(toAnswer(request.url.slice(-24), goal));
  },
} satisfies ExportedHandler;
