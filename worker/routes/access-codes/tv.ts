import type { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, DEVICE } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { activateTvCode, createTvCode, pollTvCode } from "#worker/services/access-codes/tv-codes.ts";
import { ActivateTvInput, Activated, TvCode, TvCodeInput, TvCodeParam, TvStatus } from "#worker/services/access-codes/schemas.ts";

/** TV sign-in: the TV shows a code, the viewer enters it where they are signed in, and the TV polls for its tokens. */
export function addTvOperations(area: ReturnType<typeof createArea>, tag: string): void {
  area.openapi(
    operation({
      operationId: "createTvCode",
      tag,
      method: "post",
      path: "/accesscode/v1/tv",
      summary: "Create a TV code",
      description:
        "Creates a code of 8 letters and digits for a device to show, valid for 10 minutes. The device then polls every `interval` seconds.",
      access: { credentials: CLIENT, errors: { unknownSite: "Site does not exist!" } },
      limit: { name: "tvCode" },
      retries: { replay: "none" },
      request: { body: jsonBody(TvCodeInput) },
      responses: { 201: json("The code", TvCode) },
    }),
    async (c) => c.json(await createTvCode(c.get("ctx"), c.req.valid("json").deviceId), 201),
  );

  area.openapi(
    operation({
      operationId: "activateTvCode",
      tag,
      method: "post",
      path: "/accesscode/v1/tv/activate",
      summary: "Activate a TV code",
      description:
        "The signed-in viewer enters the code that their TV shows, which signs the TV in as them. A code that is unknown, expired or already activated returns 204.",
      access: { credentials: ACCOUNT, accounts: "any" },
      request: { body: jsonBody(ActivateTvInput) },
      responses: { 200: json("The TV can sign in", Activated), 204: { description: "No Content!" } },
    }),
    async (c) => {
      const activated = await activateTvCode(c.get("ctx"), c.req.valid("json").code, callerAddress(c));
      return activated ? c.json({ success: true as const }, 200) : c.body(null, 204);
    },
  );

  area.openapi(
    operation({
      operationId: "pollTvCode",
      tag,
      method: "get",
      path: "/accesscode/v1/tv/{code}",
      summary: "Poll a TV code",
      description:
        "Called by the device that created the code. Returns `pending`, then `activated` with the tokens exactly once; otherwise `expired`. Polling more often than every 5 seconds returns `slow_down`.",
      access: { credentials: DEVICE, readsPrimary: true },
      request: { params: TvCodeParam },
      responses: { 200: json("The status of the code", TvStatus) },
      errors: ["not_found", "slow_down"],
    }),
    async (c) => c.json(await pollTvCode(c.get("ctx"), c.req.valid("param").code, callerAddress(c)), 200),
  );
}
