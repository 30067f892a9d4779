import { z } from "@hono/zod-openapi";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { notFound } from "#worker/lib/errors.ts";
import { escapeHtml } from "#worker/lib/handlebars/template.ts";
import { fileKey, frameKey } from "./graphics.ts";
import { FRAME_SCRIPT, FRAME_STYLE } from "./frame-script.ts";

const Frame = z.object({ main: z.string() });

/** A file of any site's graphic: the id is enough, so that frames need no credentials. */
export async function openGraphicFile(env: Env, id: string, path: string): Promise<R2ObjectBody> {
  const object = await env.MEDIA.get(fileKey(id, path));
  if (!object) throw notFound("File not found");
  return object;
}

/** The document in which a graphic's script runs. It executes the commands of the page that holds it, in order. */
export async function graphicFrame(env: Env, id: string): Promise<string> {
  const object = await env.MEDIA.get(frameKey(id));
  if (!object) throw notFound("Graphic not found");
  const { main } = Frame.parse(await object.json());
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Graphic</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light">
<style>${FRAME_STYLE}</style>
<body data-main="${escapeHtml(main)}">
<script>${FRAME_SCRIPT}</script>
</body>
</html>
`;
}

/**
 * No origin, no way out: scripts, styles and data only from the graphic's own files; images, fonts and media also from elsewhere, as in
 * html overlays. Any page may hold it.
 */
export async function frameHeaders(origin: string, id: string): Promise<Record<string, string>> {
  const files = `${origin}/overlay/v1/graphics/${id}/files/`;
  const script = Buffer.from(await sha256(FRAME_SCRIPT), "hex").toString("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${script}' ${files}`,
    `style-src 'unsafe-inline' ${files}`,
    `connect-src ${files}`,
    `img-src ${files} https: data: blob:`,
    `font-src ${files} https: data:`,
    `media-src ${files} https: data: blob:`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors *",
    "sandbox allow-scripts",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "public, max-age=3600",
    "Referrer-Policy": "no-referrer",
  };
}

/** For any origin, but never as a document or a script of this one: an upload mustn't get past the site's own policy. */
export function fileHeaders({ httpMetadata, size, httpEtag }: R2Object): Record<string, string> {
  return {
    "Content-Type": httpMetadata?.contentType ?? "application/octet-stream",
    "Content-Length": String(size),
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "public, max-age=31536000, immutable",
    ETag: httpEtag,
    Vary: "Sec-Fetch-Site",
  };
}
