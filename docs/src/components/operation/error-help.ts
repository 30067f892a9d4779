import type { ErrorCode } from "#worker/lib/errors.ts";

/** Why a code is answered, and what its caller does about it. */
export const ERROR_HELP = {
  invalid_request: {
    cause: "A parameter or a field of the body is missing, of the wrong type, out of its bounds, or not known to the operation.",
    fix: "Read `issues`: each entry names the field and says what it must be. Unknown fields are refused, so a misspelt name is listed too.",
  },
  site_login_required: {
    cause: "The token is a global account's, which is good for the operations on global accounts alone.",
    fix: "Sign in with the `siteId` of the site that you want to work on, and send the token of that answer.",
  },
  channel_admin_required: {
    cause: "The account may write to some channels, and this one is not among them.",
    fix: "Call with an admin of the channel, or add the channel's id to the `pageId` list of the account's role.",
  },
  stream_provider_failed: {
    cause: "The stream provider's own server refused the call, gave no answer within 10 seconds, or answered something else than agreed.",
    fix: "Read the message, then the provider's log. Nothing was changed: the call can be made again once the provider works.",
  },
  malformed_json: {
    cause: "The body is not JSON: a comma too many, a quote that the shell took away, or text that was cut off.",
    fix: "Serialise the body with a JSON library. In a shell put it in single quotes.",
  },
  unauthenticated: {
    cause: "The credentials are missing, unknown, expired or of another site. Tokens are good for ten minutes.",
    fix: "Check which credentials the operation takes, and that they are of the site that `Tifo-Client-Id` names. Exchange an expired token at `POST /auth/v2/refresh`.",
  },
  totp_required: {
    cause:
      "The password is right, and the account has an authenticator app: a one-time code is needed too. Or the code that was sent is wrong, or has been used.",
    fix: "Ask for the code that the app shows now and sign in again with `totp`. A recovery code will do. Each code works once.",
  },
  no_account: {
    cause: "The token is valid, but the account that it was given to is no longer there.",
    fix: "Sign in again, as an account that exists.",
  },
  forbidden: {
    cause:
      "The credentials are valid, but not of a kind or a role that may do this; or a browser called with a key from an origin that the site does not list.",
    fix: "Use a key or an account with the role that the operation's page names. Keep keys on servers, or add the page's origin to `settings.security.allowedOrigins`.",
  },
  email_not_verified: {
    cause:
      "The password is right, but the site requires a verified e-mail address (`settings.security.requireVerifiedEmail`), or a global account was requested from an address that isn't verified.",
    fix: "Request a mail with `POST /account/v3/verify-email/request`, pass its token to `POST /account/v3/verify-email`, then try again.",
  },
  password_required: {
    cause:
      "A verification token alone doesn't prove that the caller created the account: somebody else may have signed up with the address. The token stays valid.",
    fix: "Repeat the request with the account's bearer token or its `password`, or let the owner of the address choose a `newPassword`.",
  },
  password_too_short: {
    cause:
      "The password is right, but the account has roles and its password has fewer than 10 characters: it was set before the account got them.",
    fix: "Reset the password by mail, or have an admin or a developer key set one with at least 10 characters.",
  },
  not_found: {
    cause: "There is no such thing on this site. What belongs to another site answers the same.",
    fix: "Check the id, and that the client id is of the site that made it.",
  },
  method_not_allowed: {
    cause: "The path exists, but not with this method.",
    fix: "The `Allow` header lists the methods that it takes.",
  },
  conflict: {
    cause:
      "It contradicts something that is there already: a slug or sku in use, a second start, a theme or provider that others still refer to.",
    fix: "The message says what is in the way. Change that, or choose another value; the same request again gives the same answer.",
  },
  already_answered: {
    cause: "The account has given all the responses that the poll allows it.",
    fix: "Show the results in place of the answers. A poll that should take more has a higher `responsesPerViewer`.",
  },
  poll_closed: {
    cause: "The poll takes no more responses.",
    fix: "Follow `poll.updated` on the channel, and hide the answers when `open` becomes false.",
  },
  idempotency_mismatch: {
    cause: "The `Idempotency-Key` was used within the last 24 hours for a request with another body or path.",
    fix: "Make a new key for each new request, and reuse one only to repeat the very same request.",
  },
  idempotency_in_flight: {
    cause: "The first request with this `Idempotency-Key` is still being worked on.",
    fix: "Wait a second and repeat with the same key: you get the first request's answer.",
  },
  idempotency_unanswered: {
    cause: "The first request with this `Idempotency-Key` took effect, but its answer could not be kept.",
    fix: "Read the resource to see what was done. Repeat with a new key only if it should happen a second time.",
  },
  precondition_failed: {
    cause: "The resource was changed since you read it: its `ETag` is no longer the one in `If-Match`.",
    fix: "Read it again, apply your change to what is there now, and send the new `ETag`.",
  },
  payload_too_large: {
    cause: "The body is larger than the operation takes: 256 kB, 10 MB of CSV, or a file of 25 MB.",
    fix: "Send less at a time, or upload a smaller file.",
  },
  unsupported_media_type: {
    cause: "The `Content-Type` is not one that the operation reads, or the file is not of the type that it claims.",
    fix: "Send `Content-Type: application/json` with JSON; an upload is `multipart/form-data` with the field `file`.",
  },
  range_not_satisfiable: {
    cause: "The `Range` header asks for bytes that the file does not have.",
    fix: "The `Content-Range` header of the answer tells the file's size. Ask for a part that lies within it.",
  },
  upgrade_required: {
    cause: "The realtime path was called with a plain request.",
    fix: "Open a WebSocket there, or read the Server-Sent Events at the same path followed by `/events`.",
  },
  rate_limited: {
    cause: "More requests than the site's quota or the sign-in limit allows.",
    fix: "Wait for as many seconds as `Retry-After` says. The `RateLimit` header tells what is left before you get here.",
  },
  slow_down: {
    cause: "A television asks for its code's state more often than every `interval` seconds.",
    fix: "Wait for `Retry-After` seconds, then poll at the `interval` of the code's answer.",
  },
  internal: {
    cause: "Something broke on our side. The answer says nothing of the inside.",
    fix: "Repeat the request with the same `Idempotency-Key`. If it keeps failing, report the `requestId`: it names the request in the log.",
  },
  billing_not_configured: {
    cause: "The deployment has no key of the payment service.",
    fix: "The operator sets the secret that the message names. Everything that needs no money works without it.",
  },
  games_not_configured: {
    cause: "The deployment has no credentials of the games catalogue.",
    fix: "The operator sets the secrets that the message names.",
  },
  youtube_not_configured: {
    cause: "The deployment has no key of YouTube's API.",
    fix: "The operator sets the secret that the message names, or you create the videos and the playlist yourself.",
  },
  unavailable: {
    cause: "A part that the operation needs is overloaded or restarting.",
    fix: "Repeat after `Retry-After` seconds, or after a second where there is none, with the same `Idempotency-Key`.",
  },
} as const satisfies Record<ErrorCode, { cause: string; fix: string }>;
