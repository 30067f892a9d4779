import { numberAt, textAt } from "./fields.ts";
import type { Challenge } from "./proof-of-work.ts";

/** The body of a request for a sandbox that answers a challenge; undefined if the server requires no proof of work. */
export async function proofFor(response: unknown): Promise<{ challenge: string; solution: string } | undefined> {
  const [challenge, bits] = [textAt(response, "challenge"), numberAt(response, "bits")];
  return bits === 0 ? undefined : { challenge, solution: await solveInWorker({ challenge, bits }) };
}

/** In a worker, so that the page responds meanwhile. */
async function solveInWorker(challenge: Challenge): Promise<string> {
  const worker = new Worker(new URL("./proof-worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.addEventListener("message", ({ data }: MessageEvent<string>) => {
        resolve(data);
      });
      worker.addEventListener("error", () => {
        reject(new Error("The proof of work could not be computed in this browser."));
      });
      worker.postMessage(challenge);
    });
  } finally {
    worker.terminate();
  }
}
