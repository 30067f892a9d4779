import { expect, test, vi } from "vitest";
import { createSetupLink } from "./setup-link.ts";

const DEPLOYMENT = "https://tifo.example";
const LINK = `${DEPLOYMENT}/studio/setup#tifo_setup_secret`;

test("a setup link is requested until the new deployment responds", async () => {
  const send = vi
    .fn<typeof fetch>()
    .mockRejectedValueOnce(new TypeError("fetch failed"))
    .mockResolvedValueOnce(new Response("There is nothing here yet", { status: 404 }))
    .mockResolvedValueOnce(Response.json({ url: LINK }, { status: 201 }));
  expect(await createSetupLink(DEPLOYMENT, "tifo_super_1", { send, gapMs: 0 })).toBe(LINK);
  expect(send).toHaveBeenCalledTimes(3);
  const [address, init] = send.mock.lastCall ?? [];
  expect(address).toBe(`${DEPLOYMENT}/site/v1/setup-link`);
  expect(new Headers(init?.headers).get("Tifo-Super-Key")).toBe("tifo_super_1");
  expect(init?.redirect).toBe("error");
});

test("a deployment that doesn't respond yields no link, and no error", async () => {
  const send = vi.fn<typeof fetch>().mockImplementation(() => Promise.resolve(new Response("", { status: 404 })));
  expect(await createSetupLink(DEPLOYMENT, "tifo_super_1", { send, gapMs: 0 })).toBeUndefined();
});
