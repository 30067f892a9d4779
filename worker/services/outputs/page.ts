/** Only the deployment's own code; images of any host over https; nothing may frame the page, and it sends nothing elsewhere but requests for animations. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' https: data:",
  "font-src 'self'",
  "connect-src 'self' https:",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The token is in the address: no referrer, cache, search engine or embedding page gets it. */
export const OUTPUT_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "private, no-store",
  "Content-Security-Policy": POLICY,
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex, nofollow",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=()",
} as const;

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tifo output</title>
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light">
<link rel="icon" href="data:,">`;

/** The document of an output: ids alone are put into it, and the script reads the rest from the address. */
export function outputDocument(siteId: string, channelId: string): string {
  return `${HEAD}
<link rel="stylesheet" href="/sdk/tifo.css">
<link rel="stylesheet" href="/sdk/output.css">
<script defer src="/sdk/output.js"></script>
</head>
<body>
<div id="output" data-site="${siteId}" data-channel="${channelId}" inert></div>
</body>
</html>
`;
}

/** What a mixer shows instead of an error: nothing. It tries again every half minute. */
export function blankDocument(reason: string): string {
  return `${HEAD.replace("Tifo output", `Tifo output: ${reason.replace(/[&<]/g, "")}`)}
<meta http-equiv="refresh" content="30">
</head>
<body></body>
</html>
`;
}
