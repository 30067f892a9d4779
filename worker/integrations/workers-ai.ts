import { z } from "@hono/zod-openapi";

/** The Workers AI binding, which a deployment may add as `AI` (see wrangler.toml). */
interface WorkersAi {
  run(model: string, input: unknown): Promise<unknown>;
}

const Binding = z.custom<WorkersAi>((value) => typeof value === "object" && value !== null && "run" in value);

/** Throws if the deployment has no such binding. */
export function workersAi(env: Env): WorkersAi {
  const { data } = Binding.safeParse(Reflect.get(env, "AI"));
  if (!data) throw new Error("The deployment has no Workers AI binding named AI");
  return data;
}
