import { createArea } from "#worker/http/area.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { SegmentParam, SegmentSize } from "#worker/services/segments/schemas.ts";
import { segmentSize } from "#worker/services/segments/size.ts";

export const segments = createArea();

segments.openapi(
  operation({
    operationId: "getSegmentSize",
    tag: "Sites",
    method: "get",
    path: "/site/v1/segments/{slug}/size",
    summary: "Get a segment's size",
    description:
      "Counts the accounts of the site that are in a segment of `settings.userSegments`, and the open connections whose viewers are. The accounts are counted when you ask, which reads all of them.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    limit: { name: "segmentSize" },
    request: { params: SegmentParam },
    responses: { 200: json("The size", SegmentSize) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json(await segmentSize(c.get("ctx"), c.req.valid("param").slug), 200),
);
