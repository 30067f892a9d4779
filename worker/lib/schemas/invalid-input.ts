import type { z } from "@hono/zod-openapi";
import { Failure, type Issue } from "#worker/lib/errors.ts";

const PUBLIC_MESSAGES = new Set<string>();

/** Marks a schema's message as one that integrators rely on: if it is among the issues, it becomes the error's `message`. */
export function worded(message: string): string {
  PUBLIC_MESSAGES.add(message);
  return message;
}

/** Turns a zod error into a 400 that names each field; for a body, with the operation's own message if it has one. */
export function invalidInput(error: z.ZodError, target: string, invalidMessage?: string): Failure {
  const issues = error.issues.flatMap(issuesOf);
  const known = issues.find(({ message }) => PUBLIC_MESSAGES.has(message))?.message;
  const message = target === "json" ? (invalidMessage ?? known) : known;
  return new Failure("invalid_request", message ?? summaryOf(issues, target), { issues });
}

function summaryOf(issues: Issue[], target: string): string {
  const summary = issues.slice(0, 3).map(({ path, message }) => (path ? `${path}: ` : "") + message);
  return `The ${target === "json" ? "body" : target} is not valid: ${summary.join("; ")}`;
}

function issuesOf(issue: z.core.$ZodIssue): Issue[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ path: [...path, key].join("."), message: "Unknown field" }));
  return [{ path: path.join("."), message: issue.message }];
}
