import { describe, expect, test } from "vitest";
import { PathRouter } from "./router.ts";

/** The routes of this list, "GET /things/:id", under their own names. */
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
  test("takes a fixed segment before a parameter, in whichever order they were added", () => {
    const match = setUp("GET /page/:id", "GET /page/landing", "GET /page/:id/devices");
    expect(match("GET", "/page/landing")).toEqual([["GET /page/landing", {}]]);
    expect(match("GET", "/page/42")).toEqual([["GET /page/:id", { id: "42" }]]);
  });

  test("goes back to the parameter where the fixed segment leads nowhere", () => {
    const match = setUp("GET /:area/list/:first", "GET /page/:id/tags/:tag", "GET /page/list/tags/all");
    expect(match("GET", "/page/list/tags/7")).toEqual([["GET /page/:id/tags/:tag", { id: "list", tag: "7" }]]);
    expect(match("GET", "/page/list/5")).toEqual([["GET /:area/list/:first", { area: "page", first: "5" }]]);
  });

  test("names a parameter as each route does", () => {
    const match = setUp("GET /page/:id", "PUT /page/:pageId");
    expect(match("PUT", "/page/42")).toEqual([["PUT /page/:pageId", { pageId: "42" }]]);
  });

  test("knows no route of another method, another length or an empty segment", () => {
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

  test("puts the middleware of all methods and of its own around a route, and around no route", () => {
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

  test("refuses what it could not keep in order", () => {
    expect(() => setUp("GET /page", "ALL /*")).toThrow("Middleware goes ahead");
    expect(() => setUp("ALL /page")).toThrow("of one method");
    expect(() => setUp("GET /page/*")).toThrow("whole segments");
  });
});
