import type { Schemas } from "#sdk/client/index.ts";
import { isCreator, isSiteAdmin, managesPage, moderatedChannels, type ModeratorScope, moderatesChannel } from "#worker/lib/roles.ts";

/** What the signed-in account's roles allow. The server decides on each request; Studio only leaves out what it would reject. */
export interface Access {
  /** Site admin, also one who only reads. */
  readonly isSiteAdmin: boolean;
  readonly writesSite: boolean;
  /** Admin of the site or of at least one channel. */
  readonly isAdmin: boolean;
  readonly isModerator: boolean;
  /** What the account is called in Studio. */
  readonly title: string;
  /** Whether the account may see or change what belongs to this channel. */
  managesChannel(channelId: string, action: "read" | "write"): boolean;
  /** Where the account moderates the chat or the questions. */
  moderated(scope: ModeratorScope, action: "read" | "write"): "all" | string[];
  moderates(scope: ModeratorScope, channelId: string, action: "read" | "write"): boolean;
  /** Whether the account has anything to do with the channel: manages it, or moderates its chat or questions. */
  worksWith(channelId: string): boolean;
}

const MODERATORS: readonly ModeratorScope[] = ["Chat_Moderator", "Question_Answer_Moderator"];

export function accessOf(roles: Schemas["AccountRole"][]): Access {
  const readsSite = isSiteAdmin(roles, "read");
  const writesSite = isSiteAdmin(roles, "write");
  const createsRead = isCreator(roles, "read");
  const isModerator = MODERATORS.some((scope) => {
    const channels = moderatedChannels(roles, scope, "read");
    return channels === "all" || channels.length > 0;
  });
  return {
    isSiteAdmin: readsSite,
    writesSite,
    isAdmin: readsSite || createsRead,
    isModerator,
    title: titleOf({ readsSite, writesSite, createsRead, createsWrite: isCreator(roles, "write"), isModerator }),
    managesChannel: (channelId, action) => managesPage(roles, channelId, action),
    moderated: (scope, action) => moderatedChannels(roles, scope, action),
    moderates: (scope, channelId, action) => moderatesChannel(roles, scope, channelId, action),
    worksWith: (channelId) =>
      managesPage(roles, channelId, "read") || MODERATORS.some((scope) => moderatesChannel(roles, scope, channelId, "read")),
  };
}

interface Held {
  readsSite: boolean;
  writesSite: boolean;
  createsRead: boolean;
  createsWrite: boolean;
  isModerator: boolean;
}

function titleOf({ readsSite, writesSite, createsRead, createsWrite, isModerator }: Held): string {
  if (writesSite) return "Site admin";
  if (readsSite) return "Site admin, read-only";
  if (createsRead) return createsWrite ? "Channel admin" : "Channel admin, read-only";
  return isModerator ? "Moderator" : "Viewer";
}
