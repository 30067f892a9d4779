import { z } from "@hono/zod-openapi";
import { PASSWORD_KINDS, SESSION_ENDS, SIGN_IN_FAILURES } from "#db/enums.ts";
import { Broadcast, ClearTarget } from "#worker/durable-objects/channel/channel.protocol.ts";
import { Id, Sku, Tags, Time } from "#worker/lib/schemas/common.ts";
import { AccessCode } from "#worker/services/access-codes/schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { StripeConnectionEvent } from "#worker/services/billing/connect-schemas.ts";
import { Charge, Refund } from "#worker/services/billing/schemas.ts";
import { AutomationRule } from "#worker/services/automation-rules/schemas.ts";
import { Bundle } from "#worker/services/bundles/schemas.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { ExportEvent, RefundEvent } from "#worker/services/community/schemas.ts";
import { AvailableProvider } from "#worker/services/data-providers/schemas.ts";
import { ReceiptTemplate, Sender } from "#worker/services/custom-email/schemas.ts";
import { CalendarEvent } from "#worker/services/events/schemas.ts";
import { Invite, RegisterInvite } from "#worker/services/invites/schemas.ts";
import { Media } from "#worker/services/media/schemas.ts";
import { Navigation } from "#worker/services/navigation/schemas.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { Page } from "#worker/services/pages/schemas.ts";
import { ChannelTemplate } from "#worker/services/pages/template-schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Playlist } from "#worker/services/playlists/schemas.ts";
import { Poll } from "#worker/services/polls/schemas.ts";
import { Quest, RaffleResult } from "#worker/services/quests/schemas.ts";
import { ApiKey } from "#worker/services/sites/api-key-schemas.ts";
import { PlaybackKey } from "#worker/services/sites/playback-key-schemas.ts";
import { Site } from "#worker/services/sites/schemas.ts";
import { StreamProvider } from "#worker/services/stream-providers/schemas.ts";
import { Stream } from "#worker/services/streams/schemas.ts";
import { Entitlement, Subscription } from "#worker/services/subscriptions/schemas.ts";
import { Theme } from "#worker/services/themes/schemas.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { RecurringSubscription, Wallet } from "#worker/services/wallets/schemas.ts";
import { WebhookEvent } from "#worker/services/webhooks/endpoint-schemas.ts";
import { ProviderEventMessage } from "#worker/services/automation-rules/automation.ts";

/** What an event's `data` is, and when it comes; services/event-catalogue/event-sample-values.ts has the values of its sample. */
export interface EventKind {
  data: z.ZodObject;
  description: string;
  /**
   * What it happens to, where that is not "<how its type begins>/_id": an area, and by dots where `data` has the id; or several, of which
   * each event has one.
   */
  resource?: string | readonly string[];
}

const OfAccount = z.object({ _id: Id, siteId: Id });
const Kind = z.enum(PASSWORD_KINDS).describe("`site`: that of the account; `global`: that of the global account to which it belongs");
const Mailed = z.object({ _id: Id.describe("Of the mail's token, which no event holds"), siteId: Id, accountId: Id });
const OnTv = z.object({ siteId: Id, accountId: Id });
const OnDevice = z.object({ accountId: Id, deviceId: z.string() });
const Intent = z.object({ _id: Id, kind: z.string(), accountId: Id });
const Code = AccessCode.omit({ accessCode: true });
const ChangedPoll = Poll.extend({ pollId: Id });
const MagicLink = Invite.omit({ token: true, inviteUrl: true });
const Registration = RegisterInvite.omit({ email: true });
// Events never tell a stream's key.
const StreamState = Stream.extend({ streamKey: z.null() });
const Channels = Id.array().nullable().describe("null: every channel of the site");

const account = { resource: "account/_id" };
const claim = { resource: "claimstatus/_id" };
const sale = { resource: "charge/_id" };
const refund = { resource: "charge/chargeId" };
const connection = { data: StripeConnectionEvent, resource: "stripeaccount/_id" };
const recurring = { resource: "recurring/_id" };

/** Every event that a change commits, by type. An area adds a line for each of its own; test/events.test.ts asks for it. */
export const EVENTS = {
  "accesscode.bulkCreated": {
    data: z.object({ batchId: z.string(), siteId: Id, qty: z.number().int().min(1), sku: Sku, tags: Tags }),
    description: "Access codes were generated in bulk",
    resource: "accesscode/batchId",
  },
  "accesscode.consumed": { data: Code.extend({ accountId: Id }), description: "An account redeemed an access code" },
  "accesscode.created": { data: Code, description: "An access code was added" },
  "accesscode.deleted": { data: Code, description: "An access code was deleted" },
  "accesscode.tvActivated": { data: OnTv, description: "An account let a television in", resource: "tv/-" },
  "accesscode.tvSignedIn": { data: OnTv, description: "A television that was let in signed in", resource: "tv/-" },
  "account.credentialsVoided": {
    data: OfAccount.extend({ resetId: Id.nullable().describe("Of the password reset whose link is mailed; null: none") }),
    description: "What signed an account in is void, since nobody had verified its address",
  },
  "account.deleted": { data: OfAccount, description: "An account was deleted, and what was known of the person" },
  "account.emailVerificationRequested": {
    data: Mailed,
    description: "An account's address is to be verified by mail",
    resource: "email-proof/_id",
  },
  "account.emailVerified": {
    data: OfAccount.extend({ by: z.enum(["mail", "reset", "invite", "partner"]).describe("What proved it") }),
    description: "A person proved that an account's address is theirs",
  },
  "account.globalAccountLinked": {
    data: OfAccount.extend({ globalAccountID: Id }),
    description: "A person linked an account to their global account",
  },
  "account.globalAccountRequested": {
    data: Mailed,
    description: "An admin asked for a global account",
    resource: "email-proof/_id",
  },
  "account.passwordChanged": { data: OfAccount.extend({ kind: Kind }), description: "An account has a new password" },
  "account.passwordResetRequested": {
    data: z.object({ _id: Id.describe("Of the reset"), siteId: Id, accountId: Id, kind: Kind }),
    description: "Somebody asked for a password reset",
    resource: "password-reset/_id",
  },
  "account.rolesUpdated": { data: Account, description: "An account has other roles", ...account },
  "account.sessionEnded": {
    data: OfAccount.extend({ sessionId: Id, reason: z.enum(SESSION_ENDS) }),
    description:
      "A session of an account was ended: by signing out, because a refresh token was used twice, or because another session has enabled an authenticator app",
  },
  "account.recoveryCodeUsed": { data: OfAccount, description: "Somebody signed in with a recovery code in place of the authenticator app" },
  "account.signInFailed": {
    data: OfAccount.extend({
      address: z.string().describe("An IPv4 address, or the /64 network of an IPv6 address"),
      reason: z.enum(SIGN_IN_FAILURES).describe("`password`, or `code`: the password was right and the one-time code wrong"),
      attempts: z.number().int().describe("How many within the minute"),
      minute: Time.describe("When the minute began"),
    }),
    description: "Sign-ins to an account failed; one event per address and minute, within two minutes",
  },
  "account.totpDisabled": { data: OfAccount, description: "An account has no authenticator app any more" },
  "account.totpEnabled": { data: OfAccount, description: "An account signs in with an authenticator app from now on" },
  "account.tagsAdded": {
    data: z.object({ siteId: Id, accounts: z.array(z.object({ _id: Id, tags: Tags })) }),
    description: "Tags were added to accounts in bulk",
    resource: "site/siteId",
  },
  "account.tagsUpdated": { data: Account, description: "An account has other tags", ...account },
  "account.updated": { data: Account, description: "An account changed", ...account },
  new_account: { data: Account, description: "An account was made", ...account },
  "admin.channelCreated": { data: Page, description: "A channel was made", resource: "page/_id" },
  "admin.channelDeleted": { data: Page, description: "A channel was deleted", resource: "page/_id" },
  "admin.channelUpdated": { data: Page, description: "A channel changed", resource: "page/_id" },
  "admin.landingCreated": { data: Page, description: "A landing page was made", resource: "page/_id" },
  "admin.landingDeleted": { data: Page, description: "A landing page was deleted", resource: "page/_id" },
  "admin.landingUpdated": { data: Page, description: "A landing page changed", resource: "page/_id" },
  "admin.templateArchived": { data: ChannelTemplate, description: "A channel template was archived", resource: "template/_id" },
  "admin.templateCreated": { data: ChannelTemplate, description: "A channel template was made", resource: "template/_id" },
  "admin.templateUpdated": { data: ChannelTemplate, description: "A channel template changed", resource: "template/_id" },
  "admin.vodDeleted": { data: Video, description: "A recording is no longer there", resource: "video/_id" },
  "admin.vodReady": { data: Video, description: "A recording can be played", resource: "video/_id" },
  "admin.wentLive": { data: StreamState, description: "A stream is on the air", resource: "stream/_id" },
  "admin.wentOffline": {
    data: StreamState.extend({ vod: z.object({ streamId: Id, durationSeconds: z.number().int() }) }),
    description: "A stream is off the air; `vod` offers its recording",
    resource: "stream/_id",
  },
  "auth.intentConsumed": { data: Intent, description: "A one-use sign-in was used", resource: "intent/_id" },
  "auth.intentCreated": { data: Intent, description: "A partner's account was given a one-use sign-in", resource: "intent/_id" },
  "billing.accountCreated": {
    ...connection,
    description: "A Stripe account was created for the site; its owner has yet to connect it",
  },
  "billing.accountDisconnected": {
    ...connection,
    description: "The owner has disconnected the site's Stripe account: nothing can be sold until another is connected",
  },
  "billing.accountUpdated": { ...connection, description: "Stripe has changed what the site's account may do, or what it needs" },
  "billing.chargeCompleted": { data: Charge, description: "A charge was paid", ...sale },
  "billing.chargeDeclined": {
    data: Charge,
    description: "A charge will not be paid",
    ...sale,
  },
  "billing.checkoutStarted": {
    data: Charge,
    description: "A payment page was opened",
    ...sale,
  },
  "billing.recurringStarted": { data: RecurringSubscription, description: "An account began to pay regularly", ...recurring },
  "billing.recurringUpdated": { data: RecurringSubscription, description: "Regular payments moved on, were late, or end", ...recurring },
  "billing.refundDeclined": {
    data: Refund,
    description: "A refund will not arrive",
    ...refund,
  },
  "billing.refundPending": {
    data: Refund,
    description: "A refund is on its way",
    ...refund,
  },
  "billing.refundRequested": {
    data: Refund,
    description: "A refund was asked for",
    ...refund,
  },
  "billing.refunded": { data: Refund, description: "Money of a charge went back", ...refund },
  "bundle.created": { data: Bundle, description: "A bundle was made" },
  "community.exportCompleted": { data: ExportEvent, description: "A file of the members can be fetched", resource: "export/_id" },
  "community.exportFailed": { data: ExportEvent, description: "A file of the members could not be made", resource: "export/_id" },
  "community.exportRequested": { data: ExportEvent, description: "Somebody asked for a file of the members", resource: "export/_id" },
  "community.refundGranted": { data: RefundEvent, description: "An admin sent a member's money back", resource: "account/accountId" },
  "customemail.receiptReset": { data: ReceiptTemplate, description: "Receipts look as they do by default", resource: "customemail/-" },
  "customemail.receiptUpdated": { data: ReceiptTemplate, description: "Receipts look different", resource: "customemail/-" },
  "customemail.senderUpdated": { data: Sender, description: "The site's mail comes from another sender", resource: "customemail/-" },
  "device.claimed": { data: OnDevice, description: "A device took one of an account's slots", resource: "account/accountId" },
  "device.freed": { data: OnDevice, description: "A device gave its slot back", resource: "account/accountId" },
  entitlement_cancelled: { data: Entitlement, description: "An entitlement was cancelled" },
  entitlement_cancelScheduled: { data: Entitlement, description: "An entitlement will end with its paid time" },
  entitlement_expired: { data: Entitlement, description: "An entitlement ran out" },
  entitlement_granted: { data: Entitlement, description: "An entitlement was granted, otherwise than by purchase" },
  entitlement_purchased: { data: Entitlement, description: "An entitlement was bought" },
  entitlement_refunded: { data: Entitlement, description: "What is back of the price of an entitlement has changed" },
  entitlement_renewed: { data: Entitlement, description: "An entitlement was paid for again" },
  entitlement_revoked: { data: Entitlement, description: "An entitlement was taken away" },
  "event.created": { data: CalendarEvent, description: "A calendar event was made" },
  "event.deleted": { data: CalendarEvent, description: "A calendar event was deleted" },
  "event.updated": { data: CalendarEvent, description: "A calendar event changed" },
  "invite.consumed": { data: MagicLink, description: "A magic link was opened" },
  "invite.created": { data: MagicLink, description: "A magic link was made" },
  "invite.deleted": { data: MagicLink, description: "A magic link was deleted" },
  "invite.redeemed": { data: MagicLink, description: "A magic link became an account" },
  "invite.registerAccepted": { data: Registration.extend({ accountId: Id }), description: "Somebody accepted an invitation by e-mail" },
  "invite.registerCreated": { data: Registration, description: "Somebody was invited by e-mail" },
  "invite.registerDeleted": { data: Registration, description: "An invitation by e-mail was deleted" },
  "invite.registerRevoked": { data: Registration, description: "An invitation by e-mail was withdrawn, or another one took its place" },
  "invite.revoked": { data: MagicLink, description: "A magic link was revoked" },
  "invite.updated": { data: MagicLink, description: "A magic link changed" },
  "media.created": { data: Media, description: "A file was uploaded" },
  "media.deleted": { data: Media, description: "A file was deleted" },
  "navigation.created": { data: Navigation, description: "A menu was made" },
  "navigation.deleted": { data: Navigation, description: "A menu was deleted" },
  "navigation.updated": { data: Navigation, description: "A menu changed" },
  "dataprovider.event": {
    data: ProviderEventMessage.extend({ externalId: z.string() }),
    description: "A data provider sent an event",
    resource: "dataprovider/providerId",
  },
  "dataprovider.providerDeleted": { data: AvailableProvider, description: "A data provider left" },
  "dataprovider.providerDisabled": {
    data: AvailableProvider,
    description: "A data provider's events are rejected from now on; `disabledReason` says why",
  },
  "dataprovider.providerRegistered": { data: AvailableProvider, description: "A data provider was registered" },
  "dataprovider.providerSecretRotated": { data: AvailableProvider, description: "A data provider got a new secret" },
  "dataprovider.providerUpdated": { data: AvailableProvider, description: "A data provider changed its registration" },
  "overlay.broadcast": {
    data: z.object({ channelIds: Channels, broadcast: Broadcast }),
    description: "An overlay was broadcast",
    resource: "overlay/broadcast.overlayId",
  },
  "overlay.cleared": {
    data: z.object({ clearId: Id, channelIds: Channels, target: ClearTarget }),
    description: "Overlays were taken off the screen",
    resource: ["page/channelIds.0", "site/-"],
  },
  "overlay.created": { data: Overlay, description: "An overlay was made" },
  "overlay.deleted": { data: Overlay, description: "An overlay was deleted" },
  "overlay.updated": { data: Overlay, description: "An overlay changed" },
  "panel.created": { data: Panel, description: "A panel was made" },
  "panel.deleted": { data: Panel, description: "A panel was deleted" },
  "panel.updated": { data: Panel, description: "A panel changed" },
  "personalization.ruleCreated": { data: AutomationRule, description: "An automation rule was made", resource: "rule/_id" },
  "personalization.ruleDeleted": { data: AutomationRule, description: "An automation rule was deleted", resource: "rule/_id" },
  "personalization.ruleUpdated": { data: AutomationRule, description: "An automation rule changed", resource: "rule/_id" },
  "playlist.created": { data: Playlist, description: "A playlist was made" },
  "playlist.deleted": { data: Playlist, description: "A playlist was deleted" },
  "playlist.updated": { data: Playlist, description: "A playlist changed" },
  "poll.closed": { data: ChangedPoll, description: "A poll takes no more responses" },
  "poll.created": { data: Poll, description: "A poll was made" },
  "poll.deleted": { data: Poll, description: "A poll was deleted" },
  "poll.opened": { data: ChangedPoll, description: "A poll takes responses" },
  "poll.settled": {
    data: ChangedPoll,
    description: "It is known which answer of a poll was right; said again with another one, it is corrected",
  },
  "poll.updated": { data: ChangedPoll, description: "A poll changed" },
  "claim.updated": { data: ClaimStatus, description: "A claim of a reward moved on", ...claim },
  "quest.claimed": {
    data: ClaimStatus.extend({ webhookId: z.string().nullable(), webhookType: z.string().nullable(), webhookValue: z.string().nullable() }),
    description: "A viewer claimed the reward of a quest",
    ...claim,
  },
  "quest.created": { data: Quest, description: "A quest was made" },
  "quest.deleted": { data: Quest, description: "A quest was deleted" },
  "quest.updated": { data: Quest, description: "A quest changed" },
  "raffle.drawn": {
    data: RaffleResult.omit({ algorithm: true }).extend({ questId: Id, entrants: z.number().int() }),
    description: "A quest's raffle was drawn",
    resource: "quest/questId",
  },
  "site.apiKeyCreated": { data: ApiKey, description: "A developer key was made", resource: "apikey/_id" },
  "site.apiKeyRevoked": { data: ApiKey, description: "A developer key works no more", resource: "apikey/_id" },
  "site.apiKeyRotated": { data: ApiKey, description: "A developer key has a new secret", resource: "apikey/_id" },
  "site.created": { data: Site, description: "The site was made" },
  "site.featuresReplaced": { data: Site, description: "The site has other features" },
  "site.playbackKeyAdded": { data: PlaybackKey, description: "A key that signs playback URLs was added", resource: "playbackkey/_id" },
  "site.playbackKeyDeleted": { data: PlaybackKey, description: "A key that signs playback URLs was deleted", resource: "playbackkey/_id" },
  "site.updated": { data: Site, description: "The site changed" },
  "stream.created": { data: StreamState, description: "A stream was made" },
  "stream.deleted": { data: StreamState, description: "A stream was deleted" },
  "stream.providerChanged": {
    data: StreamProvider,
    description: "A stream provider changed its registration",
    resource: "streamprovider/_id",
  },
  "stream.providerRegistered": { data: StreamProvider, description: "A stream provider was registered", resource: "streamprovider/_id" },
  "stream.providerRemoved": { data: StreamProvider, description: "A stream provider was removed", resource: "streamprovider/_id" },
  "stream.updated": { data: StreamState, description: "A stream lost its channel" },
  "subscription.created": { data: Subscription, description: "A subscription was made" },
  "subscription.deleted": { data: Subscription, description: "A subscription was deleted" },
  "subscription.updated": { data: Subscription, description: "A subscription changed" },
  "theme.applied": { data: z.object({ siteId: Id, theme: Theme }), description: "The site wears a theme", resource: "site/siteId" },
  "theme.created": { data: Theme, description: "A theme was made" },
  "theme.deleted": { data: Theme, description: "A theme was deleted" },
  "theme.updated": { data: Theme, description: "A theme changed" },
  "video.created": { data: Video, description: "A video was added" },
  "video.deleted": { data: Video, description: "A video was deleted" },
  "video.updated": { data: Video, description: "A video changed" },
  "wallet.created": { data: Wallet, description: "An account or the site got a wallet" },
  "wallet.updated": { data: Wallet, description: "The owner of a wallet became known to Stripe" },
  "webhook.created": { data: WebhookEvent, description: "A webhook was set up" },
  "webhook.deleted": { data: WebhookEvent, description: "A webhook was removed" },
  "webhook.disabled": {
    data: WebhookEvent,
    description: "A webhook was switched off: its receiver answered 410, or nothing got through for 75 hours",
  },
  "webhook.secretRotated": { data: WebhookEvent, description: "A webhook has a new secret" },
  "webhook.test": { data: z.object({ sentAt: Time }), description: "Sent by the test operation alone, to the site's own endpoint" },
  "webhook.updated": { data: WebhookEvent, description: "A webhook's settings changed" },
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof EVENTS;
