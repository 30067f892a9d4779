import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { ERRORS, type ErrorCode, Failure } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";

const codes = Object.keys(ERRORS);

/** The one shape of every error (RFC 9457), `application/problem+json`. */
export const Problem = z
  .object({
    success: z.literal(false),
    type: z.string().describe("The page that explains this code"),
    title: z.string(),
    status: z.number().int(),
    code: z.string().describe(`One of: ${codes.join(", ")}`),
    message: z.string(),
    errorMessage: z.string().optional().describe("The same as `message`, in answers of data providers and billing"),
    requestId: z.string().describe("Names this request in our logs"),
    issues: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe("What is wrong, field by field"),
  })
  .openapi("Problem");

/** The error responses of an operation, one per status, each naming its codes. */
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

/** Turns whatever was thrown into a Failure, a body that isn't JSON with the operation's own refusal; what we didn't foresee becomes `internal` and keeps its cause for the log. */
export function toFailure(error: unknown, refusal?: string): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof HTTPException && error.status === 400)
    return new Failure("malformed_json", refusal ?? "The body is not valid JSON", { cause: error });
  if (error instanceof HTTPException && error.status === 415)
    return new Failure("unsupported_media_type", "Send the body in the content type that the operation declares", { cause: error });
  return new Failure("internal", "Something went wrong on our side", { cause: error });
}

/** Areas whose integrators read `errorMessage`. */
const SAID_TWICE = /^\/(dataprovider|billing)\//;

export function renderFailure(c: Context<AppEnv>, failure: Failure): Response {
  const { status, title } = ERRORS[failure.code];
  const problem: z.infer<typeof Problem> = {
    success: false,
    type: `${new URL(c.req.url).origin}/errors#${failure.code}`,
    title,
    status,
    code: failure.code,
    message: failure.message,
    errorMessage: SAID_TWICE.test(c.get("route") ?? "") ? failure.message : undefined,
    requestId: c.var.requestId,
    issues: failure.issues,
  };
  return c.body(JSON.stringify(problem), status, {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    ...failure.headers,
  });
}
