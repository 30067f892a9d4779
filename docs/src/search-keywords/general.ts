/** The pages that belong to no section, and the errors. */
export const GENERAL: Record<string, string> = {
  "/": "what is tifo, home, overview, fan engagement, second screen, watch party, interactive video, engagement platform, interactive overlays, product, what is this, introduction, alternative, what is this product, what can it do, about tifo, features, open source engagement, how does tifo compare, licence, mit",
  "/api/key":
    "developer key, client id, deviceId, super key, credentials, api token, header, Tifo-Client-Id, Tifo-Developer-Key, where is my key, site id, authentication header, create key, lost key, api keys, secret key, public key and secret key, publishable key, which key do i use, header for the key, device id, tifo_dev, leaked key, service account, key for server, key for browser, environment variable for key, test key and live key, key permissions, super admin",
  "/api/rest":
    "explorer, openapi, swagger, api reference, try it, postman, rest api, try requests in browser, interactive api, api console, api playground",
  "/changelog":
    "release notes, version history, what is new, rss, atom, feed, breaking changes, updates, latest version, news, what changed, latest release, deprecations, migration notes, upgrade notes, what's new, roadmap, version number, subscribe to releases",
  "/docs/api-reference":
    "openapi, openapi file download, openapi.json, download the specification, swagger, api specification, endpoints, rest api, all operations, postman, date format, timezone, utc, content type, conventions, base url, versioning, list of endpoints, graphql, http api, sdk generation, generate client, request format, expand, nested objects, timestamps, iso 8601, time zone, field names, null values, versioned paths, api versions, deprecation policy, sdk for rest, methods, wsdl, hypermedia",
  "/errors":
    "error codes, status codes, http status, problem details, problem json, troubleshooting, error handling, error format, error body, validation errors, what does this error mean, failed request, exceptions, error object, retryable errors, error list, machine readable errors, code reference, bad gateway",
  "/errors#already_answered": "vote twice, voted already, double vote",
  "/errors#chat_banned": "user is banned, muted",
  "/errors#chat_members_only": "follower only, subscribers only chat, not a member",
  "/errors#conflict": "already exists, name taken, slug taken, email already registered, in use",
  "/errors#email_not_verified": "verify email first, unverified address",
  "/errors#forbidden":
    "cors, cross origin, allowed origins, browser blocked, access denied, permission, not allowed, missing role, insufficient permissions, wrong origin",
  "/errors#idempotency_mismatch": "key reuse, same key different body, reused key",
  "/errors#insufficient_balance": "not enough coins, not enough points, cannot afford",
  "/errors#internal": "server error, 500, crash, something went wrong, unexpected error, bug",
  "/errors#invalid_request": "validation failed, missing field, unknown field, unprocessable entity, bad parameter",
  "/errors#malformed_json": "json parse error, syntax error, invalid json, unexpected token",
  "/errors#method_not_allowed": "wrong verb, wrong method",
  "/errors#no_account": "anonymous viewer, needs account, sign in first",
  "/errors#not_found": "missing resource, wrong id, unknown route, no such page",
  "/errors#payload_too_large": "body too big, file too large, upload size",
  "/errors#poll_closed": "voting closed, too late to vote, vote rejected",
  "/errors#precondition_failed": "etag mismatch, if match, changed meanwhile, concurrent edit, lost update",
  "/errors#rate_limited": "too many requests, throttled, quota exceeded",
  "/errors#shop_failed": "bad gateway, shopify error",
  "/errors#totp_required": "one time code missing, second factor",
  "/errors#unauthenticated":
    "unauthorized, login failed, token expired, invalid credentials, wrong key, missing token, no credentials, not signed in, getting 401, key is wrong, invalid api key",
  "/errors#unavailable": "service unavailable, overloaded, try again later, temporarily down",
  "/errors#unsupported_media_type": "content type, file type not allowed, wrong format",
  "/errors#upgrade_required": "upgrade header, websocket behind proxy, not a websocket",
  "/quality":
    "test coverage, benchmark, lighthouse, performance figures, reliability, proof, how fast, test results, how reliable, comparison with other servers, figures, load test, page speed, benchmarks, centrifugo, socket.io, soketi, comparison, throughput, requests per second, lighthouse score, accessibility tests, test count, fuzzing, soak test, p99, latency figures, load, machine",
  "/sandbox":
    "playground, test site, free trial, try without an account, temporary site, own site, expire, claim, test account, demo account, api key for tests, trial site, try for free, try without signing up, demo site, throwaway site, personal test environment, trial account, free account, evaluation, temporary key, captured emails, claim my site",
  "/start":
    "quickstart, quick start, tutorial, first steps, hello world, install, run locally, npm start, clone, demo, sandbox, requirements, prerequisites, node version, setup, laptop, localhost, local development, beginner, run it locally, first overlay, begin, new here, where do i start, from scratch, dev server, port 8787, run offline, windows, wsl, mac, git clone, docker compose, seed data, sample data",
};
