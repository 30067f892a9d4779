import { describe, expect, test } from "vitest";
import { PathRouter } from "./router.ts";

/** A router whose handlers are the names of these routes, such as "GET /things/:id". */
function setUp(...routes: string[]) {
  const router = new PathRouter<string>();
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    router.add(method, path, route);
  }
  return (method: string, path: string) => {
    const [handlers, values = []] = router.match(method, path);
    return handlers.map(([handler, params]) => [
      handler,
      Object.fromEntries(Object.entries(params).map(([name, index]) => [name, typeof index === "number" ? values[index] : index])),
    ]);
  };
}

describe("the router", () => {
  test("prefers a fixed segment to a parameter, in whichever order they were added", () => {
    const match = setUp("GET /page/:id", "GET /page/landing", "GET /page/:id/devices");
    expect(match("GET", "/page/landing")).toEqual([["GET /page/landing", {}]]);
    expect(match("GET", "/page/42")).toEqual([["GET /page/:id", { id: "42" }]]);
  });

  test("backtracks to the parameter if the fixed segment has no match", () => {
    const match = setUp("GET /:area/list/:first", "GET /page/:id/tags/:tag", "GET /page/list/tags/all");
    expect(match("GET", "/page/list/tags/7")).toEqual([["GET /page/:id/tags/:tag", { id: "list", tag: "7" }]]);
    expect(match("GET", "/page/list/5")).toEqual([["GET /:area/list/:first", { area: "page", first: "5" }]]);
  });

  test("uses each route's own parameter names", () => {
    const match = setUp("GET /page/:id", "PUT /page/:pageId");
    expect(match("PUT", "/page/42")).toEqual([["PUT /page/:pageId", { pageId: "42" }]]);
  });

  test("matches no route with another method, another length or an empty segment", () => {
    const match = setUp("GET /page/:id", "GET /");
    for (const [method, path] of [
      ["POST", "/page/42"],
      ["GET", "/page"],
      ["GET", "/page/"],
      ["GET", "/page/42/tags"],
      ["GET", "//page/42"],
    ] as const)
      expect(match(method, path)).toEqual([]);
    expect(match("GET", "/")).toEqual([["GET /", {}]]);
  });

  test("runs the middleware of all methods and of its own, with or without a matching route", () => {
    const match = setUp("ALL /*", "OPTIONS /*", "GET /page/:id");
    expect(match("GET", "/page/42")).toEqual([
      ["ALL /*", {}],
      ["GET /page/:id", { id: "42" }],
    ]);
    expect(match("OPTIONS", "/page/42")).toEqual([
      ["ALL /*", {}],
      ["OPTIONS /*", {}],
    ]);
    expect(match("GET", "/nowhere")).toEqual([["ALL /*", {}]]);
  });

  test("rejects routes that it can't order", () => {
    expect(() => setUp("GET /page", "ALL /*")).toThrow("Middleware must be added");
    expect(() => setUp("ALL /page")).toThrow("one method");
    expect(() => setUp("GET /page/*")).toThrow("whole segments");
  });
});
