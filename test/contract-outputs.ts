import { OutputWithToken } from "#worker/services/outputs/schemas.ts";
import type { CallOptions, TestSite } from "./harness.ts";

/** The page of an output, whose token is the credential. */
export const OUTPUT_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  openOutput: async (site) => {
    const params = { channelId: site.channels[0] };
    const created = await site.call("createOutput", { params, body: { name: "Studio" } });
    return { params, query: { token: created.as(OutputWithToken).token } };
  },
};
