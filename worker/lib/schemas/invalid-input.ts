import type { z } from "@hono/zod-openapi";
import { Failure, type Issue } from "#worker/lib/errors.ts";

/**
 * Messages of schemas that integrators rely on: one among the issues becomes the error's `message`. A list, because zod has
 * `params` for its custom issues only, and these are issues of types, patterns and enums.
 */
const PUBLIC_MESSAGES = [
  "Invalid page ID format",
  "Invalid sample name",
  "Missing Webhooks Id",
  "Missing Webhooks Url",
  "metadata query parameter is required",
] as const;

export type PublicMessage = (typeof PUBLIC_MESSAGES)[number];

/** Turns a zod error into a 400 that names each field; for a body, with the operation's own message if it has one. */
export function invalidInput(error: z.ZodError, target: string, invalidMessage?: string): Failure {
  const issues = error.issues.flatMap(issuesOf);
  const known = PUBLIC_MESSAGES.find((each) => issues.some(({ message }) => message === each));
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
