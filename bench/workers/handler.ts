import { type Goal, toAnswer } from "./goal.ts";

// The minimum with the same response: no routing, no validation.

export default {
  async fetch(request) {
    const goal = await request.json<Goal>();
    return Response.json(toAnswer(request.url.slice(-24), goal));
  },
} satisfies ExportedHandler;
