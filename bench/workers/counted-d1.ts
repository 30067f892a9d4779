import worker from "#worker/index.ts";

export * from "#worker/index.ts";

// Tifo's Worker with a count of its D1 round trips; never measured.

let roundTrips = 0;

const counts = new Set<PropertyKey>(["all", "batch", "exec", "first", "raw", "run"]);

/** Counts every call that reaches D1. */
function counted<T extends object>(target: T): T {
  return new Proxy(target, {
    get(object, name): unknown {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (counts.has(name)) roundTrips++;
        const result: unknown = Reflect.apply(value, object, args);
        return name === "prepare" || name === "bind" ? counted(Object(result)) : result;
      };
    },
  });
}

export default {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname === "/round-trips") return new Response(String(roundTrips));
    return worker.fetch(request, { ...env, DB: counted(env.DB) }, ctx);
  },
} satisfies ExportedHandler<Env>;
