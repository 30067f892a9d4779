import { TifoProblem } from "../client/index.ts";

/** What to show of an error: the API's own sentence, which is in English, or `otherwise` if there was no response. */
export function problemText(error: unknown, otherwise: string): string {
  return error instanceof TifoProblem && error.status > 0 ? error.message : otherwise;
}
