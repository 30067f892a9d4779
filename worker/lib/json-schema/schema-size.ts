import { childSchemas, isSchema, type Schema } from "./schema.ts";
import { OutOfSteps, StepBudget } from "./steps.ts";

/** How many subschemas a schema may have after expanding its references. */
export const MAX_EXPANDED = 10_000;

/**
 * Whether a schema exceeds `MAX_EXPANDED` subschemas once its references are expanded; recursive schemas are entered once. The walk stops
 * at the limit, so that its cost doesn't depend on the schema.
 */
export function expandsTooFar(root: Schema, budget = new StepBudget(MAX_EXPANDED)): boolean {
  const open = new Set<Schema>();
  const walk = (schema: unknown): void => {
    budget.spend();
    if (!isSchema(schema) || open.has(schema)) return;
    open.add(schema);
    for (const child of childSchemas(schema, root)) walk(child);
    open.delete(schema);
  };
  try {
    walk(root);
    return false;
  } catch (cause) {
    // A chain of references may be longer than the stack.
    if (cause instanceof OutOfSteps || cause instanceof RangeError) return true;
    throw cause;
  }
}
