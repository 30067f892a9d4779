import type { TestSite } from "./harness.ts";
import { derby, outcomes } from "./polls.ts";

/** What an agent is asked, the operation that does it, and the call that carries it out. */
export interface Task {
  ask: string;
  operationId: string;
  call?: (site: TestSite) => { path?: Record<string, string>; query?: Record<string, unknown>; body?: unknown };
  /** The status of the response; 200 by default. */
  status?: number;
}

const channel = (site: TestSite) => ({ channelId: site.channels[0] });

/** Thirty tasks as their users would put them. */
export const TASKS: Task[] = [
  { ask: "list all channels", operationId: "listChannels" },
  { ask: "get the settings of the site", operationId: "getSite", call: (site) => ({ path: { siteId: site.id } }) },
  { ask: "history of concurrent viewers", operationId: "getConcurrentsHistory" },

  { ask: "find accounts by their email", operationId: "listAccounts", call: () => ({ query: { search: "viewer@" } }) },
  {
    ask: "create a poll",
    operationId: "createPoll",
    call: (site) => ({ body: { ...derby, siteId: site.id, answers: outcomes } }),
    status: 201,
  },
  { ask: "results of a poll", operationId: "getPollResults", call: () => ({ path: { id: "5eed00000000000000006001" } }), status: 404 },
  { ask: "list overlays", operationId: "listOverlays" },
  { ask: "which templates for graphics are in the kit", operationId: "listKit" },
  {
    ask: "show an overlay to viewers",
    operationId: "broadcastOverlay",
    call: () => ({ path: { id: "5eed0000000000000000a001" }, body: {} }),
    status: 404,
  },
  {
    ask: "clear all overlays of a channel",
    operationId: "clearChannelBroadcasts",
    call: (site) => ({ path: { targetId: site.channels[0] }, body: {} }),
  },
  { ask: "what was broadcast recently", operationId: "listBroadcasts" },
  {
    ask: "how many viewers acknowledged a broadcast, receipt",
    operationId: "getReceipt",
    call: () => ({ path: { broadcastId: "5eed0000000000000000b001" } }),
    status: 404,
  },
  { ask: "list videos", operationId: "listVideos" },
  {
    ask: "draw the winners of a raffle",
    operationId: "drawQuestRaffle",
    call: () => ({ path: { id: "5eed00000000000000006102" }, body: {} }),
    status: 400,
  },
  { ask: "list leaderboards", operationId: "listLeaderboards" },
  {
    ask: "award points to an account",
    operationId: "awardPoints",
    call: () => ({ path: { id: "5eed00000000000000007801" }, body: {} }),
    status: 400,
  },
  { ask: "read the chat messages of a channel", operationId: "listChatMessages", call: (site) => ({ path: channel(site) }) },
  { ask: "messages waiting for a moderator", operationId: "listChatQueue" },
  { ask: "ban somebody from the chat", operationId: "banFromChat", call: () => ({ body: {} }), status: 400 },
  { ask: "list the questions that viewers asked", operationId: "listQuestions", call: (site) => ({ path: channel(site) }) },
  { ask: "list the rundowns", operationId: "listRundowns" },
  { ask: "schedule an action for later", operationId: "listScheduledActions" },
  { ask: "list webhooks", operationId: "getWebhooks" },
  { ask: "failed webhook deliveries", operationId: "listDeliveries", status: 404 },
  { ask: "events of the site's log", operationId: "listEvents" },
  { ask: "automation rules", operationId: "listAutomationRules" },
  {
    ask: "events that a data provider sent",
    operationId: "listProviderEvents",
    call: () => ({ path: { providerId: "5eed000000000000000da001" } }),
    status: 404,
  },
  {
    ask: "create a developer key",
    operationId: "createApiKey",
    call: () => ({ body: { name: "Agent", roles: ["poll:read"] } }),
    // Only accounts create keys.
    status: 403,
  },
  { ask: "what did viewers engage with, insights", operationId: "getEngagement" },
  { ask: "rate limits and what is left", operationId: "getLimits" },
];
