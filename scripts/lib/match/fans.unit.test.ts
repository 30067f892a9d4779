import { expect, test, vi } from "vitest";
import { supporter } from "./fans.ts";

const URL = "http://localhost:1";

/** Answers sign-ups with this status, and notes all calls. */
function serve(signUp: number, signIn = 200): string[] {
  const calls: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    calls.push(url.slice(URL.length));
    const isSignUp = url.endsWith("/account/v3");
    return Promise.resolve(
      Response.json(isSignUp ? { message: "Something else" } : { jwt: "token" }, { status: isSignUp ? signUp : signIn }),
    );
  });
  return calls;
}

// More than 100 failed sign-ins a minute from one address are rejected, which a fast machine reached.
test.each([201, 409])("a supporter signs up before the first sign-in, which succeeds (sign-up: %d)", async (status) => {
  const calls = serve(status);
  await supporter(URL, status);
  expect(calls).toEqual(["/account/v3", "/auth/v2/login"]);
  await supporter(URL, status);
  expect(calls).toHaveLength(2);
});

test("a supporter who can't sign up or in is a problem", async () => {
  serve(429);
  await expect(supporter(URL, 1)).rejects.toThrow("Something else");
  serve(409, 401);
  await expect(supporter(URL, 1)).rejects.toThrow("supporter-2@stand.example has another password");
});
