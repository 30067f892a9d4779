import { randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { PNG, uploadForm } from "#test/uploads.ts";
import type { Api } from "../api.ts";
import type { Lane, Outcome } from "../lane.ts";

const File = z.object({ _id: z.string() });

/** Uploads: each acknowledged file is served as it was sent. */
export class Files implements Lane {
  readonly name = "files";
  readonly pauseMs = 2_000;
  readonly #api: Api;
  readonly #files = new Map<string, Uint8Array>();
  readonly #rejected: string[] = [];

  constructor(api: Api) {
    this.#api = api;
  }

  async prepare(): Promise<void> {
    await this.step();
  }

  async step(): Promise<void> {
    // What follows the picture's end belongs to the file.
    const bytes = new Uint8Array(Buffer.concat([PNG, randomBytes(1_000)]));
    const { status, body } = await this.#api.decide("/media/v1", { method: "POST", body: uploadForm(bytes) });
    if (status < 300) this.#files.set(File.parse(body)._id, bytes);
    else this.#rejected.push(`upload: ${status} ${JSON.stringify(body)}`);
  }

  async compare(): Promise<Outcome> {
    const wrong = [...this.#rejected];
    for (const [id, bytes] of this.#files) {
      const stored = await this.#api.download(`/media/v1/${id}`);
      if (!stored || Buffer.compare(stored, bytes) !== 0) wrong.push(`file ${id} has ${stored?.length} bytes instead of ${bytes.length}`);
    }
    return { acknowledged: this.#files.size, wrong };
  }
}
