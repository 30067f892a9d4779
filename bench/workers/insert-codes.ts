// The minimum that creates as many codes: cheap codes in random order, like Tifo's, inserted with the same statement in one batch. Returns
// only their number.

const PER_STATEMENT = 10_000;
const INSERT = `insert into access_codes (id, site_id, access_code, sku, type, tags, created, modified, version)
  select ? || printf('%05x', key + ?), ?, value, ?, 'subscription', '[]', ?, ?, 1 from json_each(?)`;

export default {
  async fetch(request, env) {
    const now = Date.now();
    const qty = Number(request.url.split("qty=")[1]);
    const prefix = now.toString(16).padStart(19, "0");
    const statements: D1PreparedStatement[] = [];
    for (let offset = 0; offset < qty; offset += PER_STATEMENT) {
      const codes = Array.from({ length: Math.min(PER_STATEMENT, qty - offset) }, () => Math.random().toString(36).slice(2, 14));
      statements.push(env.DB.prepare(INSERT).bind(prefix, offset, "site", "season-pass", now, now, JSON.stringify(codes)));
    }
    await env.DB.batch(statements);
    return Response.json({ qty });
  },
} satisfies ExportedHandler<Pick<Env, "DB">>;
