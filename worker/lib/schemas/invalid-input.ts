import type { z } from "@hono/zod-openapi";
import { Failure, type Issue } from "#worker/lib/errors.ts";

const WORDED = new Set<string>();

/** Makes a schema's message a sentence that integrators know: where it is among the issues, it is the `message` of the refusal. */
export function worded(sentence: string): string {
  WORDED.add(sentence);
  return sentence;
}

/** A zod failure as a 400 that names each field, of a body with the operation's own refusal. */
export function invalidInput(error: z.ZodError, target: string, refusal?: string): Failure {
  const issues = error.issues.flatMap(issuesOf);
  const sentence = target === "json" && refusal !== undefined ? refusal : issues.find(({ message }) => WORDED.has(message))?.message;
  return new Failure("invalid_request", sentence ?? summaryOf(issues, target), { issues });
}

function summaryOf(issues: Issue[], target: string): string {
  const told = issues.slice(0, 3).map(({ path, message }) => (path ? `${path}: ` : "") + message);
  return `The ${target === "json" ? "body" : target} is not valid: ${told.join("; ")}`;
}

function issuesOf(issue: z.core.$ZodIssue): Issue[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ path: [...path, key].join("."), message: "Unknown field" }));
  return [{ path: path.join("."), message: issue.message }];
}
