/** How to authenticate, for agents: the part of `/concepts/authentication` that a first request needs. */
const TEXT = `# Authentication

Send these headers with every request:

- \`Tifo-Client-Id\`: the site's id. Not a secret.
- \`Tifo-Developer-Key\`: a developer key, from servers only. Its roles (\`<area>:read\`, \`<area>:write\`) limit what it can do.
- or \`Authorization: Bearer <jwt>\` of an account: \`POST /auth/v2/login\` with \`email\`, \`password\` and \`siteId\` returns \`jwt\`, valid for 10 minutes, and \`refreshToken\`.

An operation lists the sets of credentials that it accepts in \`security\` of /openapi.json; any one set is enough.

Errors are \`application/problem+json\` with a \`code\`: 401 \`unauthenticated\` (missing, unknown or expired credential), 403 \`forbidden\` (its role doesn't suffice), 429 \`rate_limited\` (wait for \`Retry-After\`).

Send an \`Idempotency-Key\` with every POST, PUT and PATCH, and reuse it when you retry.

- Model Context Protocol: /mcp, with the same headers. See /guides/agents.md.
- Everything about credentials: /concepts/authentication.md
- All pages: /llms.txt
`;

export function GET(): Response {
  return new Response(TEXT, { headers: { "Content-Type": "text/markdown; charset=utf-8" } });
}
