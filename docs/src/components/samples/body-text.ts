import { JSON_TEXT, literal } from "./literal.ts";
import type { SampleRequest } from "./request.ts";

/** A file that every language can write in one line. */
export const CAPTIONS = "WEBVTT\\n\\n00:00.000 --> 00:04.000\\nKick-off\\n";

/** The request's body as text. */
export function textOf({ body }: SampleRequest): string {
  if (body?.kind === "text") return body.text;
  return body?.kind === "json" ? literal(body.value, JSON_TEXT) : "";
}
