import { and, eq, type SQL } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import { type ChatBanRow, chatBans } from "#db/schema/engagement/chat.ts";
import { forbidden, invalid, notFound, rerunOnDuplicate } from "#worker/lib/errors.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { idIn, type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { channelsModeratedBy, requireChatModerator } from "#worker/services/core/moderators.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import { fromRoom, refreshRooms } from "./rooms.ts";
import { type ChatBanInput, toChatBanEvent } from "./schemas.ts";

/** Stored in place of a channel's id for a ban on every channel. */
const EVERYWHERE = "";

const banList: ListSpec<ChatBanRow> = {
  table: chatBans,
  id: { by: chatBans.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(chatBans).$dynamic(), slice),
  sort: { created: { by: chatBans.created, of: (row) => row.created } },
  defaultDirection: -1,
  search: {},
};

export interface BanFilters {
  accountId?: string | undefined;
  deviceId?: string | undefined;
  channelId?: string | undefined;
  kind?: ChatBanRow["kind"] | undefined;
}

/** The bans and mutes of the channels that the caller moderates, and those of the site. */
export async function listBans(ctx: Ctx, query: ListQuery & BanFilters): Promise<ListPage<ChatBanRow>> {
  const channels = await channelsModeratedBy(ctx, "Chat_Moderator", "read");
  const { accountId, deviceId, channelId, kind } = query;
  const filters: SQL | undefined = and(
    accountId === undefined ? undefined : eq(chatBans.accountId, accountId),
    deviceId === undefined ? undefined : eq(chatBans.deviceId, deviceId),
    channelId === undefined ? undefined : eq(chatBans.channelId, channelId),
    kind === undefined ? undefined : eq(chatBans.kind, kind),
  );
  const visible = channels === "all" ? undefined : idIn(chatBans.channelId, [EVERYWHERE, ...channels]);
  return listRows(ctx, banList, query, eq(chatBans.siteId, ctx.siteId), filters, visible);
}

/** Bans or mutes an account, or bans a device; a second one of the kind in the same place replaces the first. Once this resolves, it applies. */
export async function banAccount(ctx: Ctx, input: ChatBanInput): Promise<{ ban: ChatBanRow; isNew: boolean }> {
  await requireModeratorOf(ctx, input.channelId ?? EVERYWHERE);
  if (input.channelId !== null) await requireChannelAccess(ctx, input.channelId, () => true);
  if (input.until !== null && input.until <= ctx.now) throw invalid("until", "Must be in the future");
  const place = {
    accountId: input.accountId ?? "",
    deviceId: input.deviceId ?? "",
    kind: input.kind,
    channelId: input.channelId ?? EVERYWHERE,
  };
  const [[account], [current]] = await ctx.db.batch([
    ctx.db
      .select({ roles: accounts.roles })
      .from(accounts)
      .where(ownRow(ctx, accounts, place.accountId)),
    ctx.db
      .select()
      .from(chatBans)
      .where(
        and(
          eq(chatBans.siteId, ctx.siteId),
          eq(chatBans.accountId, place.accountId),
          eq(chatBans.deviceId, place.deviceId),
          eq(chatBans.kind, place.kind),
          eq(chatBans.channelId, place.channelId),
        ),
      ),
  ]);
  if (input.accountId !== undefined && !account) throw invalid("accountId", "The site has no such account");
  const actor = await ctx.caller();
  if (account && account.roles.length > 0 && actor.kind === "account" && !isSiteAdmin(actor.roles, "write"))
    throw forbidden("Only site admins may ban accounts with roles");
  const createdBy = actor.kind === "account" ? actor.id : null;
  const fields = { until: input.until, reason: input.reason, createdBy };
  const ban: ChatBanRow = current ? { ...current, ...fields, ...nextVersion(ctx, current) } : { ...newRow(ctx), ...place, ...fields };
  const event: NewEvent<"chat.banned"> = { type: "chat.banned", resource: `chatban/${ban.id}`, data: toChatBanEvent(ban) };
  const columns = "chat_bans.site_id, chat_bans.account_id, chat_bans.device_id, chat_bans.kind, chat_bans.channel_id";
  const eventIds = current
    ? await commitIfUnchanged(
        ctx,
        ctx.db
          .update(chatBans)
          .set(ban)
          .where(whereVersion(ctx, chatBans, current)),
        event,
      )
    : await rerunOnDuplicate(columns, () => commit(ctx, ctx.db.insert(chatBans).values(ban), event));
  await apply(ctx, ban, eventIds);
  return { ban, isNew: current === undefined };
}

/** Lifts a ban or mute. Once this resolves, the account may send again. */
export async function liftBan(ctx: Ctx, id: string): Promise<void> {
  const [ban] = await ctx.db
    .select()
    .from(chatBans)
    .where(ownRow(ctx, chatBans, id));
  if (!ban) throw notFound("Ban not found");
  await requireModeratorOf(ctx, ban.channelId);
  const change = ctx.db.delete(chatBans).where(whereVersion(ctx, chatBans, ban));
  const event: NewEvent<"chat.unbanned"> = { type: "chat.unbanned", resource: `chatban/${id}`, data: toChatBanEvent(ban) };
  await apply(ctx, ban, await commitIfUnchanged(ctx, change, event));
}

/** A moderator of some channels can't ban on all of them. */
async function requireModeratorOf(ctx: Ctx, channelId: string): Promise<void> {
  if (channelId !== EVERYWHERE) return requireChatModerator(ctx, channelId);
  if ((await channelsModeratedBy(ctx, "Chat_Moderator", "write")) !== "all")
    throw forbidden("Only moderators of every channel may ban on the whole site");
}

async function apply(ctx: Ctx, { channelId }: ChatBanRow, eventIds: string[]): Promise<void> {
  await fromRoom(refreshRooms(ctx.env, ctx.siteId, channelId === EVERYWHERE ? null : channelId));
  ctx.emitted.completedEventIds.push(...eventIds);
}
