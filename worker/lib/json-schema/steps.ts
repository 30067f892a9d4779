/** Thrown when work exceeds its budget. */
export class OutOfSteps extends Error {
  override name = "OutOfSteps";
}

/** Limits work by a step count instead of a clock, so that the same input always has the same outcome. */
export class StepBudget {
  readonly #limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#spent;
  }

  /** Throws `OutOfSteps` once more than the limit has been spent. */
  spend(steps = 1): void {
    this.#spent += steps;
    if (this.#spent > this.#limit) throw new OutOfSteps(`More than ${this.#limit} steps`);
  }
}

/** A copy of a JSON value that spends a step for each element or name read from it. */
export function metered(value: unknown, budget: StepBudget): unknown {
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map((inner) => metered(inner, budget))
    : Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, metered(inner, budget)]));
  return new Proxy(copy, {
    get(target, name) {
      budget.spend();
      const inner: unknown = Reflect.get(target, name);
      return inner;
    },
    getOwnPropertyDescriptor(target, name) {
      budget.spend();
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    ownKeys(target) {
      const names = Reflect.ownKeys(target);
      budget.spend(names.length);
      return names;
    },
  });
}
