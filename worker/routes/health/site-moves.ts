import { createArea } from "#worker/http/area.ts";
import { SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { SiteParam } from "#worker/services/operations/schemas.ts";
import { cancelMove, getMove, startMove } from "#worker/services/site-moves/moves.ts";
import { MoveSite, SiteMove, toSiteMove } from "#worker/services/site-moves/schemas.ts";

export const siteMoves = createArea();

const tag = "Health";
const path = "/ops/sites/{siteId}/move";

siteMoves.openapi(
  operation({
    operationId: "moveSite",
    tag,
    method: "post",
    path,
    summary: "Move a site to another database",
    description:
      "Moves a site with everything that it has to another database of the deployment, while it is in use; see [Operate a deployment](/guides/operations#move-a-site-to-another-database). At the end, its writes wait for some seconds. One site moves at a time.",
    access: { credentials: SUPER },
    request: { params: SiteParam, body: jsonBody(MoveSite) },
    responses: { 202: json("The move has started", SiteMove) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json(toSiteMove(await startMove(c.get("ctx"), c.req.valid("param").siteId, c.req.valid("json").shard)), 202),
);

siteMoves.openapi(
  operation({
    operationId: "getSiteMove",
    tag,
    method: "get",
    path,
    summary: "Get the state of a move",
    description: "Returns the state of a site's last move between databases.",
    access: { credentials: SUPER },
    request: { params: SiteParam },
    responses: { 200: json("The move", SiteMove) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toSiteMove(await getMove(c.get("ctx"), c.req.valid("param").siteId)), 200),
);

siteMoves.openapi(
  operation({
    operationId: "cancelSiteMove",
    tag,
    method: "delete",
    path,
    summary: "Cancel a move",
    description: "Leaves the site in its old database and deletes the copy. Possible until the site is in the new one (409 from then on).",
    access: { credentials: SUPER },
    request: { params: SiteParam },
    responses: { 202: json("The move is being cancelled", SiteMove) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json(toSiteMove(await cancelMove(c.get("ctx"), c.req.valid("param").siteId)), 202),
);
