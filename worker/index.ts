import { Api } from "./app.ts";

export { Automation } from "./durable-objects/automation.ts";
export { Branch } from "./durable-objects/branch/branch.ts";
export { Channel } from "./durable-objects/channel/channel.ts";
export { ChatRoom } from "./durable-objects/chat-room/chat-room.ts";
export { CuePoller } from "./durable-objects/cue-poller.ts";
export { InsightCounter } from "./durable-objects/insight-counter/insight-counter.ts";
export { Leaderboard } from "./durable-objects/leaderboard/leaderboard.ts";
export { Limiter } from "./durable-objects/limiter.ts";
export { QuestionBoard } from "./durable-objects/question-board.ts";
export { StatBoard } from "./durable-objects/stat-board.ts";
export { PollCounter } from "./durable-objects/poll-counter/poll-counter.ts";
export { Relay } from "./durable-objects/relay/relay.ts";
export { Scheduler } from "./durable-objects/scheduler/scheduler.ts";
export { SiteLog } from "./durable-objects/site-log/site-log.ts";
export { SitePresence } from "./durable-objects/site-presence/site-presence.ts";
export { ViewCounter } from "./durable-objects/view-counter.ts";
export { WebhookEndpoint } from "./durable-objects/webhook-endpoint/webhook-endpoint.ts";

const api = new Api();

export default {
  fetch: (request, env, ctx) => api.fetch(request, env, ctx),
  queue: async (batch, env) => {
    const { runJobs } = await import("./queues/jobs.ts");
    await runJobs(batch, env);
  },
  scheduled: async (controller, env) => {
    const { runScheduled } = await import("./scheduled.ts");
    await runScheduled(env, controller.scheduledTime);
  },
} satisfies ExportedHandler<Env>;
