import { expect, test } from "vitest";
import { chainOf } from "./causes.ts";

test("the chain of an error lists every cause, outermost first", () => {
  const error = new Error("The page failed.", { cause: new TypeError("No such field.", { cause: "offline" }) });
  expect(chainOf(error)).toBe("The page failed.\n\nCause:\nTypeError: No such field.\n\nCause:\noffline");
});

test("the chain of an error that causes itself ends", () => {
  const error = new Error("Around.");
  error.cause = error;
  expect(chainOf(error)).toBe("Around.");
});
