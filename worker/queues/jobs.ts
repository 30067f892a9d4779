import { directoryDb, siteDb } from "#db/databases.ts";
import { logError } from "#worker/lib/log.ts";
import { continueExport } from "#worker/services/community/exports.ts";
import { continueArchive } from "#worker/services/site-archives/jobs.ts";
import { continueMove } from "#worker/services/site-moves/steps.ts";
import { storeDeadLetters } from "#worker/services/operations/upkeep.ts";
import { Job } from "./messages.ts";

const RETRY_SECONDS = 30;
/** The queue of the messages that another gave up. */
const DEAD_LETTERS = "tifo-jobs-dead";

/** Runs each job of a batch separately: a failed one is retried later and doesn't block the others. */
export async function runJobs(batch: MessageBatch, env: Env): Promise<void> {
  if (batch.queue === DEAD_LETTERS) return storeDeadLetters(directoryDb(env), batch, Date.now());
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
  if (job.kind === "siteMove") return continueMove(env, job.siteId, Date.now);
  const worker = { env, db: siteDb(env, job.siteId) };
  return job.kind === "memberExport" ? continueExport(worker, job, Date.now) : continueArchive(worker, job, Date.now);
}
