import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { ERRORS, type ErrorCode, Failure } from "#worker/lib/errors.ts";
import { blankDocument, OUTPUT_HEADERS } from "#worker/services/outputs/page.ts";
import type { AppEnv } from "./app-env.ts";

const codes = Object.keys(ERRORS);

/** The shape of every error response (RFC 9457), `application/problem+json`. */
export const Problem = z
  .object({
    success: z.literal(false),
    type: z.string().describe("The documentation page of this code"),
    title: z.string(),
    status: z.number().int(),
    code: z.string().describe(`One of: ${codes.join(", ")}`),
    message: z.string(),
    errorMessage: z.string().optional().describe("The same as `message`; only for data provider and billing operations"),
    requestId: z.string().describe("Identifies this request in the logs"),
    issues: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe("The problems by field"),
  })
  .openapi("Problem");

/** The error responses of an operation: one per status, each with its codes. */
export function errorResponses(errors: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(new Set(errors), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join(". "),
        content: { "application/problem+json": { schema: Problem } },
      },
    ]),
  );
}

/** Turns any thrown error into a Failure. Invalid JSON gets the operation's own message; unexpected errors become `internal`, with their cause for the log. */
export function toFailure(error: unknown, invalidMessage?: string): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof HTTPException && error.status === 400)
    return new Failure("malformed_json", invalidMessage ?? "The body is not valid JSON", { cause: error });
  if (error instanceof HTTPException && error.status === 415)
    return new Failure("unsupported_media_type", "Send the body with the content type that the operation declares", { cause: error });
  return new Failure("internal", "Something went wrong on our side", { cause: error });
}

/** Areas whose clients read `errorMessage`. */
const WITH_ERROR_MESSAGE = /^\/(dataprovider|billing)\//;

export function renderFailure(c: Context<AppEnv>, failure: Failure): Response {
  const { status, title } = ERRORS[failure.code];
  if (c.get("operation")?.operationId === "openOutput" && c.req.header("Accept")?.includes("text/html") === true)
    return c.body(blankDocument(failure.message), status, { ...OUTPUT_HEADERS, ...failure.headers });
  const problem: z.infer<typeof Problem> = {
    success: false,
    type: `${new URL(c.req.url).origin}/errors#${failure.code}`,
    title,
    status,
    code: failure.code,
    message: failure.message,
    errorMessage: WITH_ERROR_MESSAGE.test(c.get("operation")?.path ?? "") ? failure.message : undefined,
    requestId: c.get("requestId"),
    issues: failure.issues,
  };
  return c.body(JSON.stringify(problem), status, {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    ...failure.headers,
  });
}
