// The shop that tests connect to, as its stand-in (shopify-service.ts) and its callers (shopify-server.ts) know it.

export const DOMAIN = "harbour-city.myshopify.com";
export const TOKEN = "0123456789abcdef0123456789abcdef";
export const SCARF = "8012345678901";

/**
 * How the service responds: "late" after others have waited, "hang" never, "stall" never ends its body, "cut" closes the connection in the
 * middle of it.
 */
export type Behaviour =
  | "succeed"
  | "late"
  | "hang"
  | "stall"
  | "cut"
  | "error"
  | "throttled"
  | "tooMany"
  | "rejected"
  | "graphqlErrors"
  | "garbage"
  | "html"
  | "flood"
  | "redirect"
  | "otherShape"
  | "missing";

/** With which headers a call says which shop it is for, and how that responds. */
export const HOST_HEADER = "x-shop-host";
export const BEHAVIOUR_HEADER = "x-behaviour";
