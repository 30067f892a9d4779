import { forbidden } from "#worker/lib/errors.ts";
import { mayBeSandbox } from "#worker/lib/ids.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { isSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import type { Step } from "#worker/http/app-env.ts";
import type { OperationPolicy } from "#worker/http/operation-policy.ts";
import { confirmCaller } from "./confirm-caller.ts";

/** What would cost the operator more than a request, or act outside of the sandbox in the deployment's name. */
const WITHHELD = new Set([
  ...["exportSite", "exportMembers", "importAccounts", "createAccessCodes", "addTagsInBulk"],
  ...["connectStripe", "importYoutubePlaylist"],
]);
const UPLOADS = new Set(["uploadMedia", "uploadGraphic"]);

/** Lets a sandbox make only so many changes, so that what anybody may create stays small. Costs nothing for any other site. */
export function limitSandbox({ operationId }: OperationPolicy): Step {
  const limitIfSandbox: Step = async (c, next) => {
    const ctx = c.get("ctx");
    if (!(await isSandbox(ctx.env, ctx.siteId))) return next();
    // First, so that strangers use up nothing.
    await confirmCaller(c);
    if (WITHHELD.has(operationId)) throw forbidden("A sandbox can't do this; claim it first");
    if (UPLOADS.has(operationId)) await takeSlot(ctx, "uploadToSandbox", "");
    await takeSlot(ctx, "changeSandbox", "");
    return next();
  };
  return (c, next) => (mayBeSandbox(c.get("ctx").siteId) ? limitIfSandbox(c, next) : next());
}
