import { STOP_WORDS } from "./query.ts";
import { stem, wordsIn } from "./words.ts";

/** Phrases that readers use for the same thing; `/` separates them. */
const GROUPS = [
  "login / log in / signin / sign in / logon / authenticate / auth",
  "logout / log out / sign out / signout / deauthenticate / end session",
  "sign up / signup / register / registration / create account",
  "401 / unauthenticated / unauthorized / unauthorised",
  "403 / forbidden / permission denied / not allowed / access denied",
  "404 / not found / missing",
  "409 / conflict / duplicate / already exists",
  "400 / 422 / bad request / invalid request / validation",
  "429 / rate limit / throttle / quota / too many requests / rate limited",
  "500 / internal error / server error",
  "503 / unavailable / not configured",
  "413 / too large / payload size",
  "412 / precondition failed / if match / etag",
  "cors / origin / cross origin / allowed origins",
  "csp / content security policy",
  "quickstart / quick start / get started / getting started / start / first steps / tutorial / hello world",
  "install / setup / set up / installation",
  "gdpr / erase / delete user / delete account / right to be forgotten / data protection / personal data",
  "privacy / consent / cookies / tracking / gdpr",
  "ws / websocket / web socket / socket / wss",
  "reconnect / resume / connection lost / disconnect",
  "sse / server sent events / eventsource",
  "realtime / real time / live connection",
  "sync / synchronise / synchronize / timecode / media time / latency / delay",
  "user / viewer / account / member / customer",
  "users / accounts / viewers",
  "admin / administrator / staff",
  "role / permission / access rights / scope",
  "api key / apikey / developer key / access key / client id",
  "token / jwt / bearer / access token",
  "credential / secret / password",
  "forgot / forgotten / lost / reset",
  "verify / validate / check / confirm",
  "cancel / stop / end / abort",
  "find / search / look up / lookup",
  "maximum / max / limit / cap",
  "buy / purchase / order / checkout",
  "photo / picture / image / thumbnail / poster",
  "game / match / fixture / event",
  "fan / viewer / audience / spectator",
  "ad / advert / advertising / commercial",
  "commentator / presenter / host",
  "backend / server side / server",
  "fixed / sticky / pinned",
  "winner / victory / champion",
  "ai / llm / agent / chatgpt / claude / copilot / mcp",
  "2fa / mfa / totp / two factor / authenticator app / one time code",
  "oauth / sso / single sign on / oidc / identity provider / social login / saml",
  "poll / vote / voting / survey / ballot",
  "prediction / predict / betting / forecast",
  "quiz / trivia",
  "quest / mission / challenge / achievement",
  "raffle / giveaway / sweepstake / lottery / prize draw / draw winners",
  "reward / prize",
  "big / large / small / size / width / height / layout / scale",
  "phone / mobile / smartphone / tablet / portrait",
  "load test / performance / benchmark / capacity / scaling",
  "approve / accept / review / decide / moderate",
  "menu / navigation / navbar / header links",
  "publish / put on air / on air / broadcast / release",
  "rss / atom / changelog",
  "duplicate / double / twice / again",
  "lineup / line up / starting eleven / squad / roster / formation / team sheet",
  "overlay / graphic / lower third / banner / bug / popup",
  "scoreboard / score bug / scorebug",
  "broadcast / push / show / trigger / send overlay / display",
  "clear / hide / take down / dismiss",
  "panel / sidebar / widget",
  "channel / event page / page",
  "leaderboard / ranking / standings / top list / high score",
  "points / xp / score / scoring",
  "wallet / balance / coins / virtual currency / credits",
  "donation / tip / tipping / donate / tip jar",
  "shop / merch / merchandise / store / products / shopify",
  "pay / payment / charge / checkout / stripe / billing",
  "refund / money back / chargeback",
  "subscription / entitlement / membership / pass / plan",
  "paywall / sell access / gate / ppv / pay per view / ticket",
  "access code / coupon / voucher / promo code / discount code / gift card",
  "magic link / invite link / invite / invitation",
  "email / e-mail / mail / smtp",
  "webhook / callback / notification url",
  "hmac / signature / signing / sign / verify signature",
  "retry / retries / resend / redeliver / replay",
  "idempotency / idempotent / safe retry / double submit / duplicate request",
  "pagination / paginate / paging / next page / cursor / offset / infinite scroll",
  "filter / search / query",
  "sort / order",
  "chat / message / comments",
  "qna / q&a / questions / ask / ama",
  "ban / block / kick / timeout / mute",
  "moderation / moderate / profanity / bad words / swear / word filter",
  "emoji / emote / reaction",
  "upload / file / image / media / asset",
  "vod / recording / on demand / replay",
  "stream / livestream / live stream / ingest / rtmp",
  "drm / protect video / signed url / playback key",
  "player / video player / hls / dash",
  "theme / branding / dark mode / colours / colors / styling / css",
  "translate / translation / language / locale / i18n / localization / localisation / internationalization",
  "accessibility / a11y / screen reader / keyboard / focus",
  "analytics / insights / statistics / metrics / reporting / audience",
  "concurrents / concurrent viewers / viewer count / presence / watching now",
  "segment / audience / cohort / targeting",
  "tag / label",
  "rule / automation / trigger / automate",
  "data provider / feed / data feed / sports data / opta / sportradar",
  "stats / statistics / match facts",
  "schedule / scheduled / timer / countdown / calendar",
  "rundown / run of show / show control / playlist of steps / cue sheet",
  "cue / scte / scte35 / id3 / emsg",
  "obs / vmix / wirecast / mixer / browser source / streamlabs / output",
  "tv / television / smart tv / device code / activate",
  "apple tv / tvos",
  "iphone / ipad / ios / swift",
  "kotlin / android",
  "react / nextjs / next.js / vite / vue / svelte / framework / npm",
  "script tag / cdn / plain html / plain page",
  "web component / custom element",
  "embed / iframe / oembed",
  "deploy / deployment / self host / self hosting / selfhost / hosting / production / cloudflare",
  "cost / price / pricing / scale / scaling",
  "migrate / migration / switch from / move from / import",
  "export / download / csv / dump / backup",
  "bulk / batch / mass / many",
  "changelog / release notes / what's new / version history",
  "error / failure / problem / exception",
  "error code / error codes / status code / problem json",
  "openapi / swagger / api spec / postman",
  "test / testing / sandbox / try",
  "security / tenant / isolation / vulnerability",
  "delivery / guarantee / exactly once / at least once / receipt / acknowledgement",
  "twitch / youtube / kick / discord",
  "create / add / make / new",
  "delete / remove",
  "update / edit / change / modify",
  "list / all / browse / search / find",
  "get / read / fetch / retrieve / load",
  "custom code / javascript / extension / handlebars",
];

/** Phrases by their first word, each with the phrases that mean the same. Words are as in `phraseOf`. */
const phrases = new Map<string, { words: string[]; others: string[][] }[]>();
for (const group of GROUPS) {
  const members = group.split(" / ").map(phraseOf);
  for (const words of members) {
    const known = phrases.get(words[0] ?? "") ?? [];
    known.push({ words, others: members.filter((other) => other !== words) });
    phrases.set(words[0] ?? "", known);
  }
}

/** A phrase as a list of stemmed words, including stop words. */
export function phraseOf(text: string): string[] {
  return wordsIn(text.toLowerCase()).map(stem);
}

/** The terms of the phrases that mean the same as the words from `at` on, and how many of these words that covers. */
export function synonymsAt(words: readonly string[], at: number): { covers: number; terms: string[] }[] {
  return (phrases.get(words[at] ?? "") ?? [])
    .filter((phrase) => phrase.words.every((word, step) => words[at + step] === word))
    .map(({ words: found, others }) => ({
      covers: found.length,
      terms: others.flat().filter((term) => !STOP_WORDS.has(term) && !found.includes(term)),
    }));
}

/** Whether a phrase with synonyms begins with the word. */
export function startsPhrase(word: string): boolean {
  return phrases.has(word);
}
