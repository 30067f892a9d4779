import { CAPTIONS, textOf } from "./body-text.ts";
import type { Header, SampleRequest } from "./request.ts";

/** The request with PHP's curl extension. */
export function php(request: SampleRequest): string {
  const { method, url, headers, body, signed } = request;
  const head: string[] = [];
  if (body && body.kind !== "file") head.push("$body = <<<'BODY'", textOf(request), "BODY;");
  if (signed) head.push(`$signature = hash_hmac("sha256", ${body ? "$body" : quote(signed.content)}, ${quote(signed.secret)});`);
  const options = [
    ...(method === "GET" ? [] : [`CURLOPT_CUSTOMREQUEST => "${method}",`]),
    "CURLOPT_RETURNTRANSFER => true,",
    ...(headers.length > 0 ? ["CURLOPT_HTTPHEADER => [", ...headers.map((header) => `    ${headerLine(header)},`), "],"] : []),
    ...(body?.kind === "file"
      ? [`// PHP 8.1 or newer.`, `CURLOPT_POSTFIELDS => ["file" => new CURLStringFile("${CAPTIONS}", "derby.vtt", "text/vtt")],`]
      : []),
    ...(body && body.kind !== "file" ? ["CURLOPT_POSTFIELDS => $body,"] : []),
  ];
  return [
    "<?php",
    ...head,
    `$request = curl_init(${quote(url)});`,
    "curl_setopt_array($request, [",
    ...options.map((line) => `    ${line}`),
    "]);",
    "$response = curl_exec($request);",
    `echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), "\\n", $response, "\\n";`,
  ].join("\n");
}

function headerLine({ name, value, variable }: Header): string {
  if (variable === "signature") return `"${name}: $signature"`;
  return variable ? `"${name}: ${value}" . getenv("${variable}")` : quote(`${name}: ${value}`);
}

/** Without interpolation, unlike double quotes. */
function quote(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
