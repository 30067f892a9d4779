export { type ClientOptions, createClient, done, ok, type Schemas, type SignInOptions, type TifoClient } from "./client.ts";
export { type FieldIssue, TifoProblem } from "./problem.ts";
export type { RetryOptions } from "./retry.ts";
export { memoryTokens, type Tokens, type TokenStore } from "./tokens.ts";
