import { JAVASCRIPT, literal } from "./literal.ts";
import type { SampleRequest } from "./request.ts";

/** Credentials that the client of `@tifo/web` sends. */
const SENT = ["Tifo-Client-Id", "Tifo-Developer-Key", "Authorization", "Tifo-Device-Id", "Content-Type"];

/** The request with the typed client of `@tifo/web`. Undefined for requests that it isn't made for: files, text, signatures and other callers. */
export function typescript({ method, url, headers, body, signed, returns, operation }: SampleRequest): string | undefined {
  const site = headers.find(({ name }) => name === "Tifo-Client-Id");
  const isProvider = headers.some(({ name, variable }) => name === "Authorization" && variable === undefined);
  if (!site || signed || isProvider || headers.some(({ name }) => !SENT.includes(name))) return undefined;
  if ((body && body.kind !== "json") || returns === "file" || returns === "text") return undefined;
  const key = headers.find(({ name }) => name === "Tifo-Developer-Key");
  const device = headers.find(({ name }) => name === "Tifo-Device-Id");
  const signsIn = headers.some(({ variable }) => variable === "TIFO_TOKEN");
  const query = Object.fromEntries(
    operation.query.map(({ name, isText }) => [name, parsed(new URL(url).searchParams.get(name) ?? "", isText)]),
  );
  const params = { ...some("path", operation.path), ...some("query", query) };
  const call = {
    ...some("params", params),
    ...(device && { headers: { "Tifo-Device-Id": device.value } }),
    ...(body && { body: body.value }),
  };
  const helper = returns === "nothing" ? "done" : "ok";
  const sent = `${helper}(tifo.api.${method}("${operation.template}", ${literal(call, JAVASCRIPT)}))`;
  return [
    `import { createClient, ${helper} } from "@tifo/web/client";`,
    "",
    "const tifo = createClient({",
    `  origin: "${new URL(url).origin}",`,
    `  clientId: "${site.value}",`,
    ...(key ? [`  developerKey: "${key.value}",`] : []),
    ...(signsIn ? ["  getToken: () => process.env.TIFO_TOKEN ?? null,"] : []),
    "});",
    returns === "nothing" ? `await ${sent};` : `console.log(await ${sent});`,
  ].join("\n");
}

function some(name: string, values: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(values).length > 0 ? { [name]: values } : {};
}

/** Numbers and booleans are typed as such. */
function parsed(value: string, isText: boolean): unknown {
  return isText || !/^(-?\d+(\.\d+)?|true|false)$/.test(value) ? value : JSON.parse(value);
}
