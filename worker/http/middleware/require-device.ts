import { invalid } from "#worker/lib/errors.ts";
import type { Step } from "#worker/http/app-env.ts";
import { confirmCaller } from "./confirm-caller.ts";

const DEVICE_ID = /^[\x21-\x7e]{1,200}$/;

/** Rejects a missing or malformed device id with a 400, once the caller is confirmed. */
export const requireDevice: Step = async (c, next) => {
  if (!DEVICE_ID.test(c.get("ctx").deviceId ?? "")) {
    await confirmCaller(c);
    throw invalid("Tifo-Device-Id", "The header Tifo-Device-Id is required: 1 to 200 printable characters without spaces");
  }
  await next();
};
