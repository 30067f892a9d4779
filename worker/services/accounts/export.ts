import { purchaseData } from "#worker/services/billing/personal-data.ts";
import { chatData } from "#worker/services/chat/personal-data.ts";
import { requireStillAllowed } from "#worker/services/auth/current-caller.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import type { Person, PersonalData } from "#worker/services/core/personal-data.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import { leaderboardData } from "#worker/services/leaderboards/personal-data.ts";
import { pollData } from "#worker/services/polls/personal-data.ts";
import { questionData } from "#worker/services/qna/personal-data.ts";
import { questData } from "#worker/services/quests/personal-data.ts";
import { viewerData } from "#worker/services/realtime/personal-data.ts";
import { getAccount } from "./accounts.ts";
import { accountData } from "./personal-data.ts";

/** Everything that is stored about a person. An area that stores personal data adds its lists here. */
export const PERSONAL_DATA: PersonalData[] = [
  ...accountData,
  ...viewerData,
  ...purchaseData,
  ...pollData,
  ...questData,
  ...leaderboardData,
  ...questionData,
  ...chatData,
];

/** The areas that a key must be able to read. */
export const EXPORTED_AREAS = [...new Set(PERSONAL_DATA.map(({ area }) => area))];

/** All that is stored about an account, as JSON: by the account itself, a site admin, or a key that may read every area. */
export async function exportAccount(ctx: Ctx, id: string): Promise<AsyncGenerator<string, void>> {
  const account = await getAccount(ctx, id);
  const actor = await ctx.caller();
  const missing = missingRoles(actor);
  if (missing.length > 0) throw forbidden(`The developer key also needs ${missing.join(", ")}`);
  const isSelf = actor.kind === "account" && actor.id === id;
  return jsonOf(ctx, { accountId: account.id, isSelf });
}

function missingRoles(actor: Actor): string[] {
  if (actor.kind !== "developer") return [];
  return EXPORTED_AREAS.filter((area) => !keyAllows(actor.roles, area, "read")).map((area) => `${area}:read`);
}

function mayStillExport(actor: Actor, id: string): boolean {
  if (actor.kind === "developer") return missingRoles(actor).length === 0;
  return actor.kind === "account" && (actor.id === id || isSiteAdmin(actor.roles, "read"));
}

async function* jsonOf(ctx: Ctx, person: Person): AsyncGenerator<string, void> {
  const head = { _id: person.accountId, siteId: ctx.siteId, exportedAt: ctx.now };
  yield `${JSON.stringify(head).slice(0, -1)},"data":{`;
  for (const [index, { name, pages }] of PERSONAL_DATA.entries()) {
    yield `${index === 0 ? "" : ","}${JSON.stringify(name)}:[`;
    // Whoever loses the permission meanwhile gets no further list.
    if (index > 0) await requireStillAllowed(ctx, (actor) => mayStillExport(actor, person.accountId));
    let isFirst = true;
    for await (const page of pages(ctx, person)) {
      if (page.length === 0) continue;
      yield `${isFirst ? "" : ","}${page.map((record) => JSON.stringify(record)).join(",")}`;
      isFirst = false;
    }
    yield "]";
  }
  yield "}}";
}
