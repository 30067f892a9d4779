import type { Operation } from "../operation/document.ts";
import { CAPTIONS, textOf } from "./body-text.ts";
import { go } from "./go.ts";
import { JAVASCRIPT, literal, PYTHON } from "./literal.ts";
import { php } from "./php.ts";
import { type Header, requestOf, type SampleRequest } from "./request.ts";
import { SPECIAL } from "./special.ts";
import type { Sample } from "./sample.ts";
import { typescript } from "./typescript.ts";

/** The storage key of the reader's language, shared by all groups of samples. */
export const SYNC_KEY = "language";

const LANGUAGES = [
  { label: "curl", language: "sh", write: curl },
  { label: "JavaScript", language: "js", write: javascript },
  { label: "TypeScript", language: "ts", write: typescript },
  { label: "Python", language: "python", write: python },
  { label: "Go", language: "go", write: go },
  { label: "PHP", language: "php", write: php },
  { label: "Swift", language: "swift", write: swift },
  { label: "Kotlin", language: "kotlin", write: kotlin },
] as const;

/** An operation's request in each language. Streams and requests that integrators don't send have fewer. */
export function samplesOf(operation: Operation): Sample[] {
  const special = SPECIAL[operation.operationId];
  if (special) return special;
  const request = requestOf(operation);
  return LANGUAGES.flatMap(({ label, language, write }) => {
    const code = write(request);
    return code === undefined ? [] : [{ label, language, code }];
  });
}

function curl(request: SampleRequest): string {
  const { method, url, headers, body, signed, returns } = request;
  const signing = signed && shellSignature(request);
  const sends = body ? [body.kind === "file" ? `-F file=@derby.vtt` : `-d ${signed ? `"$BODY"` : shellQuote(textOf(request))}`] : [];
  const verb = method === (body ? "POST" : "GET") ? "" : ` -X ${method}`;
  const lines = [
    `curl -sS${verb} ${shellQuote(url)}`,
    ...headers.map(({ name, value, variable }) =>
      variable ? `-H "${name}: ${value}$${variable === "signature" ? "SIGNATURE" : variable}"` : `-H ${shellQuote(`${name}: ${value}`)}`,
    ),
    ...sends,
    ...(returns === "file" ? ["-o crest.svg"] : []),
  ];
  const file = body?.kind === "file" ? `printf '${CAPTIONS}' > derby.vtt\n` : "";
  return `${file}${signing ?? ""}${lines.join(" \\\n  ")}`;
}

function shellSignature(request: SampleRequest): string {
  const content = request.body ? textOf(request) : (request.signed?.content ?? "");
  const name = request.body ? "BODY" : "ID";
  return [
    `${name}=${shellQuote(content)}`,
    `SIGNATURE=$(printf %s "$${name}" | openssl dgst -sha256 -hmac ${request.signed?.secret} | sed 's/.*= //')`,
    "",
  ].join("\n");
}

function javascript(request: SampleRequest): string {
  const { method, url, headers, body, signed, returns } = request;
  const head: string[] = [];
  const options = method === "GET" ? [] : [`method: "${method}",`];
  if (headers.length > 0) options.push("headers: {", ...headers.map((header) => `  ${javascriptHeader(header)},`), "},");
  if (body?.kind === "file") {
    head.push(
      "// Node 20 or newer, or a browser.",
      "const form = new FormData();",
      `form.set("file", new File(["${CAPTIONS}"], "derby.vtt", { type: "text/vtt" }));`,
    );
    options.push("body: form,");
  } else if (body?.kind === "text") options.push(`body: ${JSON.stringify(body.text)},`);
  else if (body && !signed) options.push(`body: JSON.stringify(${literal(body.value, JAVASCRIPT, 2)}),`);
  if (signed) {
    if (body?.kind === "json") head.push(`const body = JSON.stringify(${literal(body.value, JAVASCRIPT)});`);
    const content = body ? "body" : JSON.stringify(signed.content);
    head.unshift(`import { createHmac } from "node:crypto";`, "");
    head.push(`const signature = createHmac("sha256", "${signed.secret}").update(${content}).digest("hex");`);
    if (body) options.push("body,");
  }
  const call = options.length === 0 ? `fetch("${url}")` : `fetch("${url}", {\n${options.map((line) => `  ${line}`).join("\n")}\n})`;
  const read = { json: ", await response.json()", text: ", await response.text()", file: ", (await response.arrayBuffer()).byteLength" };
  const shown = returns === "nothing" ? "" : read[returns];
  return [...head, ...(head.length > 0 ? [""] : []), `const response = await ${call};`, `console.log(response.status${shown});`].join("\n");
}

function javascriptHeader({ name, value, variable }: Header): string {
  const key = JAVASCRIPT.key(name);
  if (variable === "signature") return `${key}: signature`;
  return variable ? `${key}: \`${value}\${process.env.${variable}}\`` : `${key}: ${JSON.stringify(value)}`;
}

function python(request: SampleRequest): string {
  const { method, url, headers, body, signed, returns } = request;
  const imports = new Set(["from urllib.request import Request, urlopen"]);
  const head: string[] = [];
  const values = headers.map((header) => pythonHeader(header));
  if (headers.some(({ variable }) => variable === "TIFO_TOKEN")) imports.add("import os");
  const options = method === "GET" ? [] : [`method="${method}",`];
  const data: string[] = [];
  if (body?.kind === "file") {
    head.push(
      `boundary = "derby-captions"`,
      `head = f'--{boundary}\\r\\nContent-Disposition: form-data; name="file"; filename="derby.vtt"\\r\\nContent-Type: text/vtt\\r\\n\\r\\n'`,
      `captions = "${CAPTIONS}"`,
    );
    values.push(`"Content-Type": f"multipart/form-data; boundary={boundary}"`);
    data.push('data=f"{head}{captions}\\r\\n--{boundary}--\\r\\n".encode(),');
  } else if (body?.kind === "text") data.push(`data=${JSON.stringify(body.text)}.encode(),`);
  else if (body) {
    imports.add("import json");
    if (signed) head.push(`body = json.dumps(${literal(body.value, PYTHON)}).encode()`);
    data.push(signed ? "data=body," : `data=json.dumps(${literal(body.value, PYTHON, 4)}).encode(),`);
  }
  if (signed) {
    imports.add("import hmac");
    head.push(`signature = hmac.new(b"${signed.secret}", ${body ? "body" : `b"${signed.content}"`}, "sha256").hexdigest()`);
  }
  if (values.length > 0) options.push("headers={", ...values.map((line) => `    ${line},`), "},");
  if (returns === "json") imports.add("import json");
  const arguments_ = [`"${url}",`, ...options, ...data].map((line) => `    ${line}`).join("\n");
  const read = { json: ", json.load(response)", text: ", response.read().decode()", file: ", len(response.read())", nothing: "" }[returns];
  const made = options.length + data.length === 0 ? `request = Request("${url}")` : `request = Request(\n${arguments_}\n)`;
  const sorted = [...imports].sort(
    (one, other) => Number(one.startsWith("from")) - Number(other.startsWith("from")) || (one < other ? -1 : 1),
  );
  return [...sorted, "", ...head, made, "with urlopen(request) as response:", `    print(response.status${read})`].join("\n");
}

function pythonHeader({ name, value, variable }: Header): string {
  if (variable === "signature") return `"${name}": signature`;
  return variable ? `"${name}": f"${value}{os.environ['${variable}']}"` : `"${name}": ${JSON.stringify(value)}`;
}

function swift(request: SampleRequest): string {
  const { method, url, headers, body, signed } = request;
  const lines = signed ? ["import CryptoKit", "import Foundation", ""] : ["import Foundation", ""];
  lines.push(`var request = URLRequest(url: URL(string: ${JSON.stringify(url)})!)`);
  if (method !== "GET") lines.push(`request.httpMethod = "${method}"`);
  if (body && body.kind !== "file")
    lines.push(`let body = Data("""\n${textOf(request).replaceAll("\\", "\\\\")}\n""".utf8)`, "request.httpBody = body");
  if (body?.kind === "file")
    lines.push(
      `let boundary = UUID().uuidString`,
      `let head = "--\\(boundary)\\r\\nContent-Disposition: form-data; name=\\"file\\"; filename=\\"derby.vtt\\"\\r\\nContent-Type: text/vtt\\r\\n\\r\\n"`,
      `request.httpBody = Data("\\(head)${CAPTIONS}\\r\\n--\\(boundary)--\\r\\n".utf8)`,
      `request.setValue("multipart/form-data; boundary=\\(boundary)", forHTTPHeaderField: "Content-Type")`,
    );
  if (signed)
    lines.push(
      `let key = SymmetricKey(data: Data("${signed.secret}".utf8))`,
      `let code = HMAC<SHA256>.authenticationCode(for: ${body ? "body" : `Data("${signed.content}".utf8)`}, using: key)`,
      `let signature = code.map { String(format: "%02x", $0) }.joined()`,
    );
  for (const { name, value, variable } of headers) {
    const text = variable === "signature" ? "signature" : variable ? `"${value}\\(token)"` : JSON.stringify(value);
    if (variable === "TIFO_TOKEN") lines.push(`let token = ProcessInfo.processInfo.environment["TIFO_TOKEN"]!`);
    lines.push(`request.setValue(${text}, forHTTPHeaderField: "${name}")`);
  }
  lines.push(
    "",
    "let (data, response) = try await URLSession.shared.data(for: request)",
    "print((response as! HTTPURLResponse).statusCode)",
  );
  lines.push("print(String(decoding: data, as: UTF8.self))");
  return lines.join("\n");
}

function kotlin(request: SampleRequest): string {
  const { method, url, headers, body, signed } = request;
  const imports = ["okhttp3.OkHttpClient", "okhttp3.Request"];
  const head: string[] = [];
  if (body?.kind === "file") {
    imports.push("okhttp3.MediaType.Companion.toMediaType", "okhttp3.MultipartBody", "okhttp3.RequestBody.Companion.toRequestBody");
    head.push(
      `val captions = "${CAPTIONS}".toRequestBody("text/vtt".toMediaType())`,
      `val body = MultipartBody.Builder().setType(MultipartBody.FORM).addFormDataPart("file", "derby.vtt", captions).build()`,
    );
  } else if (body) {
    imports.push("okhttp3.MediaType.Companion.toMediaType", "okhttp3.RequestBody.Companion.toRequestBody");
    const type = body.kind === "text" ? body.type : "application/json";
    const text = textOf(request).replaceAll("$", "${'$'}");
    head.push(`val text = """\n${text}\n""".trim()`, `val body = text.toRequestBody("${type}".toMediaType())`);
  }
  if (signed) {
    imports.push("javax.crypto.Mac", "javax.crypto.spec.SecretKeySpec");
    head.push(
      `val mac = Mac.getInstance("HmacSHA256")`,
      `mac.init(SecretKeySpec("${signed.secret}".toByteArray(), "HmacSHA256"))`,
      `val signature = mac.doFinal(${body ? "text" : `"${signed.content}"`}.toByteArray()).joinToString("") { "%02x".format(it) }`,
    );
  }
  const needsBody = ["POST", "PUT", "PATCH"].includes(method);
  if (needsBody && !body) imports.push("okhttp3.RequestBody.Companion.toRequestBody");
  const verb = method === "GET" ? [] : [`.${method.toLowerCase()}(${body ? "body" : needsBody ? `"".toRequestBody()` : ""})`];
  const calls = [`.url(${JSON.stringify(url)})`, ...headers.map(kotlinHeader), ...verb, ".build()"];
  return [
    ...imports.sort().map((name) => `import ${name}`),
    "",
    ...head,
    `val request = Request.Builder()\n${calls.map((call) => `    ${call}`).join("\n")}`,
    "",
    "OkHttpClient().newCall(request).execute().use { response ->",
    "    println(response.code)",
    "    println(response.body.string())",
    "}",
  ].join("\n");
}

function kotlinHeader({ name, value, variable }: Header): string {
  if (variable === "signature") return `.header("${name}", signature)`;
  return variable ? `.header("${name}", "${value}" + System.getenv("${variable}"))` : `.header("${name}", ${JSON.stringify(value)})`;
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
