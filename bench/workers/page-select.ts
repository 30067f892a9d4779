// The minimum with the same response: one SELECT by key, with the row's JSON columns parsed and serialised.

interface Row {
  id: string;
  type: string;
  site_id: string;
  slug: string;
  seo: string;
  style: string;
  active_renderers: string;
  renderers: string;
  tags: string;
  data: string;
  created: number;
  modified: number;
}

export default {
  async fetch(request, env) {
    const select = env.DB.prepare("SELECT * FROM pages WHERE site_id = ? AND id = ?");
    const row = await select.bind(request.headers.get("Tifo-Client-Id"), request.url.slice(-24)).first<Row>();
    if (!row) return new Response(null, { status: 404 });
    return Response.json({
      _id: row.id,
      type: row.type,
      site_id: row.site_id,
      slug: row.slug,
      seo: read(row.seo),
      style: read(row.style),
      active_renderers: read(row.active_renderers),
      renderers: read(row.renderers),
      tags: read(row.tags),
      data: read(row.data),
      created: row.created,
      modified: row.modified,
      collection: "pages",
    });
  },
} satisfies ExportedHandler<Pick<Env, "DB">>;

function read(text: string): unknown {
  return JSON.parse(text);
}
