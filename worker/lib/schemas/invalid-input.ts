import type { z } from "@hono/zod-openapi";
import { Failure, type Issue } from "#worker/lib/errors.ts";

/** A message that integrators rely on: as the `error` of a schema or check, it becomes the response's `message` too. */
export function publicMessage(message: string): { error: z.core.$ZodErrorMap } {
  return {
    error: (issue) => {
      // Only custom issues have `params` of their own; zod copies whatever else an issue has.
      Object.assign(issue, { params: { isPublic: true } });
      return message;
    },
  };
}

function isPublic(issue: z.core.$ZodIssue): boolean {
  return "params" in issue && issue.params?.["isPublic"] === true;
}

/** Turns a zod error into a 400 that names each field; for a body, with the operation's own message if it has one. */
export function invalidInput(error: z.ZodError, target: string, invalidMessage?: string): Failure {
  const issues = error.issues.flatMap(issuesOf);
  const known = error.issues.find(isPublic)?.message;
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
