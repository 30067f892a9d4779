import { z } from "@hono/zod-openapi";

// The minimum with the same queries: runs the statements of STATEMENTS in one D1 batch, and returns their rows as JSON.

const Statements = z.array(z.object({ sql: z.string(), params: z.array(z.unknown()) }));

let statements: z.infer<typeof Statements> | undefined;

export default {
  async fetch(_request, env) {
    statements ??= Statements.parse(JSON.parse(env.STATEMENTS));
    const results = await env.DB.batch(statements.map(({ sql, params }) => env.DB.prepare(sql).bind(...params)));
    return Response.json(results.map(({ results: rows }) => rows));
  },
} satisfies ExportedHandler<Pick<Env, "DB"> & { STATEMENTS: string }>;
