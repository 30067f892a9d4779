import type { Value } from "./values.ts";

const SITE = "5eed00000000000000000001";
const CHANNEL = "5eed0000000000000000c001";

/** The two calls that show a template, for a shell. */
export function curlSample(template: string, title: string, variables: Record<string, Value>): string {
  const overlay = { siteId: SITE, name: title, description: "", type: "template", duration: 10, contents: [{ kind: "kit", template }] };
  const headers = `-H 'Tifo-Client-Id: ${SITE}' \\\n  -H 'Tifo-Developer-Key: tifo_dev_demo' \\\n  -H 'Content-Type: application/json'`;
  return `OVERLAY=$(curl -fsS http://localhost:8787/overlay/v1/ \\
  ${headers} \\
  -d ${quoted(overlay)} | node -pe 'JSON.parse(fs.readFileSync(0))._id')

curl -fsS "http://localhost:8787/overlay/v1/broadcast/$OVERLAY" \\
  ${headers} \\
  -d ${quoted({ channelId: CHANNEL, variables })}`;
}

/** The same in TypeScript, on your server. */
export function sdkSample(template: string, title: string, variables: Record<string, Value>): string {
  return `import { createClient, ok } from "@tifo/web/client";

const { api } = createClient({ origin: "http://localhost:8787", clientId: "${SITE}", developerKey: process.env.TIFO_KEY });
const overlay = await ok(
  api.POST("/overlay/v1", {
    body: {
      siteId: "${SITE}",
      name: ${JSON.stringify(title)},
      description: "",
      type: "template",
      duration: 10,
      contents: [{ kind: "kit", template: ${JSON.stringify(template)} }],
    },
  }),
);
await ok(
  api.POST("/overlay/v1/broadcast/{id}", {
    params: { path: { id: overlay._id } },
    body: { channelId: "${CHANNEL}", priority: 0, variables: ${JSON.stringify(variables, null, 2).replaceAll("\n", "\n    ")} },
  }),
);`;
}

/** JSON as an argument in single quotes. */
function quoted(value: unknown): string {
  return `'${JSON.stringify(value, null, 2).replaceAll("'", "'\\''").replaceAll("\n", "\n  ")}'`;
}
