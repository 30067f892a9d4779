import worker from "#worker/index.ts";

export * from "#worker/index.ts";

// Tifo's Worker with a recording of its last D1 batch; never measured.

let last: { sql: string; params: unknown[] }[] = [];
const texts = new WeakMap<D1PreparedStatement, { sql: string; params: unknown[] }>();

function recorded(db: D1Database): D1Database {
  return {
    exec: (sql) => db.exec(sql),
    withSession: (bookmark) => db.withSession(bookmark),
    dump: () => db.dump(),
    prepare: (sql) => {
      const statement = db.prepare(sql);
      const bind = statement.bind.bind(statement);
      statement.bind = (...params) => {
        const bound = bind(...params);
        texts.set(bound, { sql, params });
        return bound;
      };
      return statement;
    },
    batch: (statements) => {
      last = statements.flatMap((statement) => texts.get(statement) ?? []);
      return db.batch(statements);
    },
  };
}

export default {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname === "/last-batch") return Response.json(last);
    return worker.fetch(request, { ...env, DB: recorded(env.DB) }, ctx);
  },
} satisfies ExportedHandler<Env>;
