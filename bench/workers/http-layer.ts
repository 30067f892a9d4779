import { Api } from "#worker/app.ts";
import { createArea } from "#worker/http/area.ts";
import { ANYONE } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { AREAS } from "#worker/routes/areas.ts";
import { Goal, GoalAnswer, GoalParam, toAnswer } from "./goal.ts";

// One more area in the full app: every middleware runs, nothing is stored.

const area = createArea();
area.openapi(
  operation({
    operationId: "announceGoal",
    tag: "Benchmark",
    method: "post",
    path: "/bench/v1/goals/{id}",
    summary: "Announce a goal",
    description: "Returns the announced goal.",
    access: { credentials: ANYONE },
    request: { params: GoalParam, body: jsonBody(Goal) },
    responses: { 200: json("The goal", GoalAnswer) },
  }),
  (c) => c.json(toAnswer(c.req.valid("param").id, c.req.valid("json")), 200),
);

const api = new Api([...AREAS, { segments: ["bench"], load: async () => [area] }]);

// The bare runtime has no rate-limit binding; the platform's binding doesn't wait either.
const FLOOD_GUARD: RateLimit = { limit: async () => ({ success: true }) };

let bindings: Env | undefined;

export default {
  fetch: (request, env, ctx) => api.fetch(request, (bindings ??= Object.assign(env, { FLOOD_GUARD })), ctx),
} satisfies ExportedHandler<Env>;
