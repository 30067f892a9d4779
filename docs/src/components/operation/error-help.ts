import type { ErrorCode } from "#worker/lib/errors.ts";

/** Why the API returns a code, and what the caller can do about it. */
export const ERROR_HELP = {
  invalid_request: {
    cause: "A parameter or a field of the body is missing, has the wrong type, is out of range, or is unknown to the operation.",
    fix: "Read `issues`: each entry names a field and what it must be. Misspelt names are listed too.",
  },
  site_login_required: {
    cause: "The token belongs to a global account, and is valid only for the operations on global accounts.",
    fix: "Sign in with the `siteId` of the site that you want to use, and send the token from that response.",
  },
  channel_admin_required: {
    cause: "The account can write to some channels, but not to this one.",
    fix: "Use an account that is an admin of the channel, or add the channel's id to the `pageId` list of the account's role.",
  },
  stream_provider_failed: {
    cause: "The stream provider's server rejected the call, didn't respond within 10 seconds, or returned an invalid response.",
    fix: "Read the message, then the provider's log. Nothing changed: you can repeat the call once the provider works.",
  },
  malformed_json: {
    cause: "The body isn't valid JSON: an extra comma, a quote that the shell removed, or truncated text.",
    fix: "Serialise the body with a JSON library. In a shell, put it in single quotes.",
  },
  unauthenticated: {
    cause: "The credentials are missing, unknown, expired or belong to another site. Tokens are valid for 10 minutes.",
    fix: "Check which credentials the operation accepts, and that they belong to the site in `Tifo-Client-Id`. Exchange an expired token at `POST /auth/v2/refresh`.",
  },
  totp_required: {
    cause:
      "The password is correct, and the account has an authenticator app, so a one-time code is required too. Or the code that you sent is wrong or has been used.",
    fix: "Ask for the app's current code and sign in again with `totp`. A recovery code also works. Each code works once.",
  },
  no_account: {
    cause: "The token is valid, but its account no longer exists.",
    fix: "Sign in again with an existing account.",
  },
  forbidden: {
    cause:
      "The credentials are valid, but their kind or role doesn't allow this; or a browser sent a key from an origin that the site doesn't list.",
    fix: "Use a key or an account with a role listed on the operation's page. Keep keys on servers, or add the page's origin to `settings.security.allowedOrigins`.",
  },
  email_not_verified: {
    cause:
      "The password is correct, but the site requires a verified email address (`settings.security.requireVerifiedEmail`), or a global account was requested for an unverified address.",
    fix: "Request an email with `POST /account/v3/verify-email/request`, submit its token to `POST /account/v3/verify-email`, then try again.",
  },
  password_required: {
    cause:
      "A verification token alone doesn't prove that the caller created the account: somebody else may have signed up with the address. The token stays valid.",
    fix: "Repeat the request with the account's bearer token or its `password`, or let the owner of the address choose a `newPassword`.",
  },
  password_too_short: {
    cause:
      "The password is correct, but the account has roles and its password has fewer than 10 characters: it was set before the account got its roles.",
    fix: "Reset the password by email, or have an admin or a developer key set one with at least 10 characters.",
  },
  not_found: {
    cause: "The resource doesn't exist on this site. Resources of other sites return the same error.",
    fix: "Check the id, and that the client id belongs to the site that created the resource.",
  },
  method_not_allowed: {
    cause: "The path exists, but not with this method.",
    fix: "The `Allow` header lists the allowed methods.",
  },
  conflict: {
    cause:
      "The request conflicts with the current state: a slug or SKU that is in use, a second start, a theme or provider that is still referenced.",
    fix: "The message names the conflict. Resolve it, or choose another value. Repeating the same request returns the same error.",
  },
  format_not_supported: {
    cause: "An oEmbed consumer asked for another format than JSON.",
    fix: "Omit `format`, or set it to `json`.",
  },
  shop_failed: {
    cause: "The shop rejected the call, or its response isn't one of Shopify's Storefront API.",
    fix: "The message has the cause. Check the shop's domain and its Storefront access token, then save the connection again.",
  },
  shop_not_configured: {
    cause: "Neither the site nor the deployment has a shop.",
    fix: "Connect one with `PUT /shopify/v1/connection`.",
  },
  insufficient_balance: {
    cause: "The wallet's balance is lower than the debit, or than what the claim or the response to the poll costs.",
    fix: "Read the wallet's `balance` and offer what it can pay. Nothing was debited.",
  },
  already_answered: {
    cause: "The account has used all the answers that the poll allows.",
    fix: "Show the results instead of the answers. To allow more answers, set a higher `responsesPerViewer`.",
  },
  poll_closed: {
    cause: "The poll no longer accepts answers.",
    fix: "Follow `poll.updated` on the channel, and hide the answers when `open` becomes false.",
  },
  chat_banned: {
    cause: "A moderator has banned the account from the chat and the questions of the channel, or of the whole site.",
    fix: "Hide the field for messages and questions. Reading still works; the ban may have an end.",
  },
  chat_members_only: {
    cause: "The room only accepts messages from accounts with an entitlement to one of its `skus`.",
    fix: "Read the room's settings, and offer the subscription instead of the field for messages.",
  },
  chat_paused: {
    cause: "A moderator has paused the chat.",
    fix: "Follow `chat.settings` on the channel, and disable the field for messages while `mode` is `paused`.",
  },
  chat_slow_mode: {
    cause: "The room is in slow mode, and the account sent a message a short while ago.",
    fix: "Wait for the seconds in `Retry-After`, and show the viewer a countdown.",
  },
  chat_busy: {
    cause: "The room receives more than 400 messages a second.",
    fix: "Send the message again after the seconds in `Retry-After`, with the same id.",
  },
  idempotency_mismatch: {
    cause: "The `Idempotency-Key` was used within the last 24 hours for a request with a different body or path.",
    fix: "Use a new key for each request, and the same one only to repeat it unchanged.",
  },
  idempotency_in_flight: {
    cause: "The first request with this `Idempotency-Key` is still running.",
    fix: "Wait a second and repeat the request with the same key: you get the first request's response.",
  },
  idempotency_unanswered: {
    cause: "The first request with this `Idempotency-Key` took effect, but its response could not be stored.",
    fix: "Read the resource. Use a new key only if the request should take effect a second time.",
  },
  precondition_failed: {
    cause: "The resource has changed since you read it: its `ETag` no longer matches `If-Match`.",
    fix: "Read the resource again, apply your change to the new version, and send the new `ETag`.",
  },
  payload_too_large: {
    cause: "The body is larger than the operation accepts: 256 kB, 10 MB for CSV, or 25 MB for a file.",
    fix: "Split the request, or upload a smaller file.",
  },
  unsupported_media_type: {
    cause: "The operation doesn't accept this `Content-Type`, or the file's content doesn't match its type.",
    fix: "Send JSON with `Content-Type: application/json`, and uploads as `multipart/form-data` with the field `file`.",
  },
  range_not_satisfiable: {
    cause: "The `Range` header requests bytes that the file doesn't have.",
    fix: "The `Content-Range` header of the response contains the file's size. Request a range within it.",
  },
  upgrade_required: {
    cause: "The realtime path was called with a plain HTTP request.",
    fix: "Open a WebSocket at this path, or read Server-Sent Events at the same path followed by `/events`.",
  },
  rate_limited: {
    cause: "The requests exceed the site's quota or the sign-in limit.",
    fix: "Wait for the seconds in `Retry-After`. The `RateLimit` header shows what is left.",
  },
  slow_down: {
    cause: "A TV polls the state of its code more often than every `interval` seconds.",
    fix: "Wait for `Retry-After` seconds, then poll at the `interval` of the response.",
  },
  internal: {
    cause: "An unexpected error, whose details are only in the server's log.",
    fix: "Repeat the request with the same `Idempotency-Key`. If it keeps failing, report the `requestId`.",
  },
  billing_not_configured: {
    cause: "The deployment has no key for the payment service.",
    fix: "Ask the operator to set the secret that the message names. Everything that doesn't involve payments works without it.",
  },
  games_not_configured: {
    cause: "The deployment has no credentials for the games catalogue.",
    fix: "Ask the operator to set the secrets that the message names.",
  },
  youtube_not_configured: {
    cause: "The deployment has no key for the YouTube API.",
    fix: "Ask the operator to set the secret that the message names, or create the videos and the playlist yourself.",
  },
  unavailable: {
    cause: "A component that the operation needs is overloaded or restarting, or the site is being moved.",
    fix: "Repeat the request after `Retry-After` seconds, or one without the header, with the same `Idempotency-Key`.",
  },
} as const satisfies Record<ErrorCode, { cause: string; fix: string }>;
