// What the simulation assumes of the platform. Times in milliseconds, prices in US dollars.

/** One `send` to one socket: 20 to 28 µs on two cores, whatever its size (bench/RESULTS.md, F). */
export const SEND_MS = 0.024;
/** What a call costs the object that receives it, besides its work: H in bench/RESULTS.md, four relays against one object. */
export const CALL_MS = 1;
/** Accepting a viewer on a relay. An object takes about 1,000 requests a second: Cloudflare's documentation, "Rules of Durable Objects". */
export const JOIN_MS = 1;
/** From one object to another and back. An assumption: objects of a channel are created near its first viewers. */
export const ROUND_TRIP_MS = 10;
/** Between a viewer and its relay and back: an assumption, for viewers of one continent. */
export const VIEWER_ROUND_TRIP_MS = 60;
/** Simultaneous outgoing connections of a Worker, in case that calls between objects count: Cloudflare's documentation, "Limits". */
export const CONNECTIONS = 6;
/** Requests a second that one object takes: "Rules of Durable Objects". */
export const OBJECT_REQUESTS = 1_000;

/** Cloudflare's documentation, "Durable Objects: Pricing". Each call of an object is a request. */
export const USD_PER_REQUEST = 0.15 / 1e6;
/** Twenty incoming WebSocket messages are one request; outgoing ones are free. */
export const MESSAGES_PER_REQUEST = 20;
export const USD_PER_GB_SECOND = 12.5 / 1e6;
export const OBJECT_GB = 0.128;
