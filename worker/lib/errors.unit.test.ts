import { expect, test } from "vitest";
import { ERRORS } from "./errors.ts";

test("of the codes with status 503, clients can tell by the name which won't go away by themselves", () => {
  const codes = Object.entries(ERRORS).flatMap(([code, { status }]) => (status === 503 ? [code] : []));
  expect(codes.filter((code) => !code.endsWith("_not_configured"))).toEqual(["unavailable"]);
  expect(Object.entries(ERRORS).filter(([code, { status }]) => code.endsWith("_not_configured") && status !== 503)).toEqual([]);
});
