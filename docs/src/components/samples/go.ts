import { CAPTIONS, textOf } from "./body-text.ts";
import type { Header, SampleRequest } from "./request.ts";

/** The request with Go's standard library. */
export function go(request: SampleRequest): string {
  const { method, url, headers, body, signed } = request;
  const imports = new Set(["fmt", "io", "net/http"]);
  const head: string[] = [];
  let reader = "nil";
  if (body?.kind === "file") {
    for (const name of ["bytes", "mime/multipart", "net/textproto"]) imports.add(name);
    head.push(...FORM);
    reader = "&body";
  } else if (body) {
    imports.add("strings");
    head.push(`body := ${text(textOf(request))}`);
    reader = "strings.NewReader(body)";
  }
  if (signed) {
    for (const name of ["crypto/hmac", "crypto/sha256", "encoding/hex"]) imports.add(name);
    head.push(
      `mac := hmac.New(sha256.New, []byte("${signed.secret}"))`,
      `mac.Write([]byte(${body ? "body" : JSON.stringify(signed.content)}))`,
    );
  }
  if (headers.some(({ variable }) => variable === "TIFO_TOKEN")) imports.add("os");
  const lines = [
    ...head,
    `request, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${reader})`,
    ...STOP,
    ...headers.map((header) => `request.Header.Set("${header.name}", ${headerValue(header)})`),
    ...(body?.kind === "file" ? [`request.Header.Set("Content-Type", form.FormDataContentType())`] : []),
    "response, err := http.DefaultClient.Do(request)",
    ...STOP,
    "defer response.Body.Close()",
    "text, err := io.ReadAll(response.Body)",
    ...STOP,
    "fmt.Println(response.StatusCode, string(text))",
  ];
  const imported = [...imports].sort().map((name) => `\t"${name}"`);
  return ["package main", "", "import (", ...imported, ")", "", "func main() {", ...lines.map((line) => `\t${line}`), "}"].join("\n");
}

const STOP = ["if err != nil {", "\tpanic(err)", "}"];

const FORM = [
  "var body bytes.Buffer",
  "form := multipart.NewWriter(&body)",
  "part, err := form.CreatePart(textproto.MIMEHeader{",
  '\t"Content-Disposition": {`form-data; name="file"; filename="derby.vtt"`},',
  '\t"Content-Type":        {"text/vtt"},',
  "})",
  ...STOP,
  `part.Write([]byte("${CAPTIONS}"))`,
  "form.Close()",
];

function headerValue({ value, variable }: Header): string {
  if (variable === "signature") return "hex.EncodeToString(mac.Sum(nil))";
  return variable ? `${JSON.stringify(value)}+os.Getenv("${variable}")` : JSON.stringify(value);
}

/** A raw string, unless the text contains its delimiter. */
function text(value: string): string {
  return value.includes("`") ? JSON.stringify(value) : `\`${value}\``;
}
