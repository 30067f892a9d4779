import type { Schemas } from "#sdk/client/index.ts";
import { problemOf, TifoProblem } from "#sdk/client/problem.ts";
import type { Session } from "#studio/session/session.ts";

type Media = Schemas["Media"];

/** Uploads a file. `fetch` doesn't say how much it has sent, so this is a request of the old kind. */
export async function upload(
  { siteId, client }: Pick<Session, "siteId" | "client">,
  file: File,
  onProgress: (share: number) => void,
): Promise<Media> {
  const jwt = await client.token();
  const body = new FormData();
  body.append("file", file);
  const request = new XMLHttpRequest();
  const response = await new Promise<Response>((resolve, reject) => {
    request.open("POST", "/media/v1");
    request.setRequestHeader("Tifo-Client-Id", siteId);
    // A repeat after a lost response doesn't store the file twice.
    request.setRequestHeader("Idempotency-Key", crypto.randomUUID());
    if (jwt !== null) request.setRequestHeader("Authorization", `Bearer ${jwt}`);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener("load", () => resolve(responseOf(request)));
    for (const type of ["error", "abort", "timeout"])
      request.addEventListener(type, () => reject(new TifoProblem({ status: 0, code: "network", message: "The server can't be reached" })));
    request.send(body);
  });
  if (!response.ok) throw await problemOf(response);
  const media: unknown = await response.json();
  if (!isMedia(media)) throw new TifoProblem({ status: response.status, code: "internal", message: "The upload has no address" });
  return media;
}

function responseOf({ status, responseText }: XMLHttpRequest): Response {
  return new Response(responseText, { status, headers: { "Content-Type": "application/problem+json" } });
}

function isMedia(value: unknown): value is Media {
  return typeof value === "object" && value !== null && "url" in value && typeof value.url === "string";
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
