import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { createBundle, getBundle, listBundles } from "#worker/services/bundles/bundles.ts";
import { checkoutBundle } from "#worker/services/billing/checkout.ts";
import { BundleCheckoutInput, CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { Bundle, BundleFilters, BundleInput, toBundle } from "#worker/services/bundles/schemas.ts";

export const bundles = createArea();
const tag = "Bundles";

bundles.openapi(
  operation({
    operationId: "listBundles",
    tag,
    method: "get",
    path: "/bundle/v1",
    summary: "List bundles",
    description: "Lists the site's bundles, newest first.",
    access: { credentials: CLIENT },
    request: { query: listQuery(["created", "name", "price"], BundleFilters) },
    responses: { 200: json("A page of bundles", listOf(Bundle).openapi("BundleList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listBundles(c.get("ctx"), query), toBundle), 200);
  },
);

bundles.openapi(
  operation({
    operationId: "createBundle",
    tag,
    method: "post",
    path: "/bundle/v1",
    summary: "Create a bundle",
    description: "Creates a bundle of tickets and shop items for one price. Its sku must be unique among the site's bundles.",
    access: { credentials: DEVELOPER },
    request: { body: jsonBody(BundleInput) },
    responses: { 201: json("The bundle", Bundle) },
    errors: ["conflict", "shop_failed"],
  }),
  async (c) => {
    const bundle = await createBundle(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, bundle);
    return c.json(toBundle(bundle), 201);
  },
);

bundles.openapi(
  operation({
    operationId: "getBundle",
    tag,
    method: "get",
    path: "/bundle/v1/{id}",
    summary: "Get a bundle",
    description: "Returns one bundle with its items.",
    access: { credentials: CLIENT },
    request: { params: IdParam },
    responses: { 200: json("The bundle", Bundle) },
    errors: ["not_found"],
  }),
  async (c) => {
    const bundle = await getBundle(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, bundle);
    return c.json(toBundle(bundle), 200);
  },
);

bundles.openapi(
  operation({
    operationId: "checkoutBundle",
    tag,
    method: "post",
    path: "/bundle/v1/{id}/checkout",
    summary: "Buy a bundle",
    description:
      "Opens a payment page for the account. Once it is paid, the account holds the bundle's sku and each ticket's, and receives a receipt by email. Shop items are fulfilled by the shop, which is notified of the sale by `billing.chargeCompleted`.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: IdParam, body: jsonBody(BundleCheckoutInput) },
    responses: { 200: json("The payment page", CheckoutAnswer) },
    errors: ["not_found", "conflict", "billing_not_configured"],
  }),
  async (c) => c.json(await checkoutBundle(c.get("ctx"), c.req.valid("param").id, c.req.valid("json")), 200),
);
