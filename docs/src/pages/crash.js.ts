import script from "virtual:tifo/crash";

export const GET = (): Response => new Response(script, { headers: { "Content-Type": "text/javascript; charset=utf-8" } });
