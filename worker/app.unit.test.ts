import { expect, test } from "vitest";
import { Api } from "./app.ts";

const app = await new Api().whole();
const operations = new Map(
  app.routes.filter(({ path }) => path !== "/*").map(({ method, path }) => [`${method} ${path}`, { method, path }]),
);

// Hono takes the first route that matches: a fixed path has to be registered before one that takes any id in its place.
test.for([...operations.values()])("$method $path is not shadowed by a route that was registered before it", ({ method, path }) => {
  const [handlers] = app.router.match(method, path.replace(/:\w+\{\.\+\}/, "one/two").replace(/:\w+/g, "5eed00000000000000000001"));
  const matches = handlers.map(([[, route]]) => route.path).filter((match) => match !== "/*");
  expect(matches[0]).toBe(path);
});
