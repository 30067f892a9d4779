import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { Goal, GoalAnswer, GoalParam, toAnswer } from "./goal.ts";

// The same route as in the libraries' documentation, without any middleware.

const app = new OpenAPIHono();
app.openapi(
  createRoute({
    method: "post",
    path: "/bench/v1/goals/{id}",
    request: { params: GoalParam, body: jsonBody(Goal) },
    responses: { 200: json("The goal", GoalAnswer) },
  }),
  (c) => c.json(toAnswer(c.req.valid("param").id, c.req.valid("json")), 200),
);

export default app;
