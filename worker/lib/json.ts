import { wellFormedJson } from "./well-formed.ts";

/** Parses JSON, undefined if it is invalid: for responses of external systems, whose shape is validated anyway. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(wellFormedJson(text));
  } catch {
    return undefined;
  }
}
