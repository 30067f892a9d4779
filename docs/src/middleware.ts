import { defineMiddleware } from "astro:middleware";

// Wide samples scroll, so they must be focusable by keyboard even before the script runs.
const SAMPLE = "<pre data-language";

/** Starlight renders every page with the dark theme; ours start light, with or without scripts. */
export const onRequest = defineMiddleware(async (_context, next) => {
  const response = await next();
  if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
  const html = await response.text();
  const page = html.replace('data-theme="dark"', 'data-theme="light"').replaceAll(SAMPLE, SAMPLE.replace("pre", 'pre tabindex="0"'));
  return new Response(page, response);
});
