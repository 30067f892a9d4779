// An empty Worker, which shows what the runtime itself needs to start.

export default {
  fetch: () => new Response("nothing here", { status: 404 }),
} satisfies ExportedHandler;
