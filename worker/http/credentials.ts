/** Every kind of credential, as named and described in the OpenAPI document. */
export const SECURITY_SCHEMES = {
  client: { type: "apiKey", in: "header", name: "Tifo-Client-Id", description: "The site's id." },
  clientQuery: { type: "apiKey", in: "query", name: "clientId", description: "The site's id, for clients that can't set a header." },
  developer: {
    type: "apiKey",
    in: "header",
    name: "Tifo-Developer-Key",
    description: "A developer key of the site, for server-to-server calls.",
  },
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "The `jwt` from the login response; valid for 10 minutes." },
  provider: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "UUID",
    description: "The `authorization` from the stream provider's registration response.",
  },
  signature: {
    type: "apiKey",
    in: "header",
    name: "Tifo-Signature",
    description:
      "Hex HMAC-SHA256 of the body (or of the provider's id if there is no body), keyed with the data provider's secret. With `Tifo-Timestamp` (seconds since 1970 UTC, within 5 minutes), sign `<timestamp>.<content>` instead; recommended, because a signature without a timestamp can be replayed.",
  },
  stripeSignature: {
    type: "apiKey",
    in: "header",
    name: "Stripe-Signature",
    description: "Stripe's signature of the body, keyed with its endpoint's secret.",
  },
  shopifySignature: {
    type: "apiKey",
    in: "header",
    name: "X-Shopify-Hmac-Sha256",
    description: "Shopify's signature of the body: base64 HMAC-SHA256, keyed with the shop's webhook secret.",
  },
  super: { type: "apiKey", in: "header", name: "Tifo-Super-Key", description: "The key of the deployment's operator." },
  device: { type: "apiKey", in: "header", name: "Tifo-Device-Id", description: "The viewer's device id, chosen by the client." },
} as const;

export type CredentialKind = keyof typeof SECURITY_SCHEMES;

/** Sets of credentials, any one of which is sufficient. */
export type Credentials = readonly (readonly CredentialKind[])[];

export const ANYONE = [[]] as const satisfies Credentials;
export const CLIENT = [["client"]] as const satisfies Credentials;
export const DEVICE = [["client", "device"]] as const satisfies Credentials;
export const DEVICE_WITH_OR_WITHOUT_ACCOUNT = [
  ["client", "device", "bearer"],
  ["client", "device"],
] as const satisfies Credentials;
export const CLIENT_WITH_OR_WITHOUT_ACCOUNT = [["client", "bearer"], ["client"]] as const satisfies Credentials;
export const GLOBAL = [["bearer"]] as const satisfies Credentials;
export const CLIENT_QUERY = [["clientQuery"]] as const satisfies Credentials;
export const CLIENT_HEADER_OR_QUERY = [["client"], ["clientQuery"]] as const satisfies Credentials;
export const CLIENT_OR_ANYONE = [["client"], []] as const satisfies Credentials;
export const DEVELOPER = [["client", "developer"]] as const satisfies Credentials;
export const ACCOUNT = [["client", "bearer"]] as const satisfies Credentials;
export const DEVELOPER_OR_ACCOUNT = [
  ["client", "developer"],
  ["client", "bearer"],
] as const satisfies Credentials;
export const DEVELOPER_OR_PROVIDER = [["client", "developer"], ["provider"]] as const satisfies Credentials;
export const SIGNATURE = [["client", "signature"]] as const satisfies Credentials;
/** The signature is verified when the event is parsed. */
export const SHOPIFY_SIGNATURE = [["shopifySignature"]] as const satisfies Credentials;
export const STRIPE_SIGNATURE = [["stripeSignature"]] as const satisfies Credentials;
export const SUPER = [["super"]] as const satisfies Credentials;
export const CLIENT_SUPER = [["client", "super"]] as const satisfies Credentials;
export const DEVELOPER_OR_SUPER = [["client", "developer"], ["super"]] as const satisfies Credentials;
export const DEVELOPER_OR_ACCOUNT_OR_SUPER = [["client", "developer"], ["client", "bearer"], ["super"]] as const satisfies Credentials;
export const GLOBAL_OR_SUPER = [["bearer"], ["super"]] as const satisfies Credentials;
