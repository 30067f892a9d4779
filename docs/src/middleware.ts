import { defineMiddleware } from "astro:middleware";

/** Starlight writes the dark theme into every page; ours start light, scripts or not. */
export const onRequest = defineMiddleware(async (_context, next) => {
  const response = await next();
  if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
  const html = await response.text();
  return new Response(html.replace('data-theme="dark"', 'data-theme="light"'), response);
});
