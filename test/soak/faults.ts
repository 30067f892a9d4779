// Bindings that fail: the soak's Worker gives them to Tifo's code instead of the real ones.

/** How often a call of D1 or R2 fails, from 0 to 1. */
export type FaultRate = number;

const DATABASE = /^DB(_\d+)?$/;
const STATEMENT_CALLS = new Set(["first", "run", "all", "raw"]);
const DATABASE_CALLS = new Set(["batch", "exec"]);
const BUCKET_CALLS = new Set(["get", "put", "delete", "list", "head"]);

/** The real statement behind a failing one, which a batch takes. */
const originals = new WeakMap<object, unknown>();

/** An environment whose databases and buckets fail, half of the time only after they have done what was asked. */
export function withFaults<E extends object>(env: E, rate: FaultRate): E {
  if (rate === 0) return env;
  const made = new Map<PropertyKey, unknown>();
  return new Proxy(env, {
    get(target, name) {
      const binding: unknown = Reflect.get(target, name, target);
      if (!isObject(binding)) return binding;
      if (typeof name !== "string" || !(DATABASE.test(name) || name === "MEDIA")) return binding;
      if (!made.has(name)) made.set(name, name === "MEDIA" ? failing(binding, BUCKET_CALLS, rate) : failingDatabase(binding, rate));
      return made.get(name);
    },
  });
}

function failingDatabase<D extends object>(database: D, rate: FaultRate): D {
  return failing(database, DATABASE_CALLS, rate, {
    prepare: (statement) => failingStatement(statement, rate),
    withSession: (session) => failingDatabase(session, rate),
  });
}

function failingStatement<S extends object>(statement: S, rate: FaultRate): S {
  const proxy = failing(statement, STATEMENT_CALLS, rate, { bind: (bound) => failingStatement(bound, rate) });
  originals.set(proxy, statement);
  return proxy;
}

/** An object of which some methods fail, and others return objects that fail in turn. */
function failing<T extends object>(
  real: T,
  calls: ReadonlySet<string>,
  rate: FaultRate,
  wrap: Record<string, (result: object) => object> = {},
): T {
  return new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || typeof name !== "string") return member;
      const call = (args: unknown[]): unknown => Reflect.apply(member, target, args.map(unwrapped));
      const wrapResult = wrap[name];
      if (wrapResult) {
        return (...args: unknown[]): unknown => {
          const result = call(args);
          return isObject(result) ? wrapResult(result) : result;
        };
      }
      if (!calls.has(name)) return (...args: unknown[]): unknown => call(args);
      return async (...args: unknown[]): Promise<unknown> => {
        const fault = Math.random() < rate;
        if (fault && Math.random() < 0.5) throw new Error(`${name} failed: an injected fault before the call`);
        const result: unknown = await call(args);
        if (fault) throw new Error(`${name} failed: an injected fault after the call`);
        return result;
      };
    },
  });
}

function unwrapped(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(unwrapped);
  return isObject(argument) ? (originals.get(argument) ?? argument) : argument;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
