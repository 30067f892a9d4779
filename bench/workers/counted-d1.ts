import worker from "#worker/index.ts";

export * from "#worker/index.ts";

// Tifo's Worker with a count of its D1 round trips and statements.

let roundTrips = 0;
let statements = 0;

const counts = new Set<PropertyKey>(["all", "batch", "exec", "first", "raw", "run"]);

/** Counts every call that reaches D1. */
function counted<T extends object>(target: T): T {
  return new Proxy(target, {
    get(object, name): unknown {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (counts.has(name)) {
          roundTrips++;
          statements += Array.isArray(args[0]) ? args[0].length : 1;
        }
        const result: unknown = Reflect.apply(value, object, args);
        return name === "prepare" || name === "bind" ? counted(Object(result)) : result;
      };
    },
  });
}

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/round-trips") return new Response(String(roundTrips));
    if (pathname === "/statements") return new Response(String(statements));
    return worker.fetch(request, { ...env, DB: counted(env.DB) }, ctx);
  },
} satisfies ExportedHandler<Env>;
