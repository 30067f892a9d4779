import { createDb } from "#db/client.ts";
import { logError } from "#worker/lib/log.ts";
import { continueExport } from "#worker/services/community/exports.ts";
import { Job } from "./messages.ts";

const RETRY_SECONDS = 30;

/** Runs the jobs of a batch, each by itself: one that fails comes again later, and holds up none of the others. */
export async function runJobs(batch: MessageBatch, env: Env): Promise<void> {
  for (const message of batch.messages) {
    try {
      await runJob(env, Job.parse(message.body));
      message.ack();
    } catch (error) {
      logError("job_failed", error, { messageId: message.id });
      message.retry({ delaySeconds: RETRY_SECONDS });
    }
  }
}

function runJob(env: Env, job: Job): Promise<void> {
  return continueExport({ env, db: createDb(env.DB) }, job, Date.now);
}
