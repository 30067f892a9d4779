import { defineMiddleware } from "astro:middleware";

// A sample that is wider than the page scrolls, so the keyboard must get there, also before the script that sees to it.
const SAMPLE = "<pre data-language";

/** Starlight writes the dark theme into every page; ours start light, scripts or not. */
export const onRequest = defineMiddleware(async (_context, next) => {
  const response = await next();
  if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
  const html = await response.text();
  const page = html.replace('data-theme="dark"', 'data-theme="light"').replaceAll(SAMPLE, SAMPLE.replace("pre", 'pre tabindex="0"'));
  return new Response(page, response);
});
