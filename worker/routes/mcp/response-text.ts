import { clip } from "#worker/lib/well-formed.ts";

/** Enough for a page of a list; a model pays for every character. */
const MAX_CHARS = 20_000;

/** A response as a tool returns it: the status, where it leads, and the start of a text body. */
export async function responseText(response: Response): Promise<string> {
  const location = response.headers.get("Location");
  const wait = response.headers.get("Retry-After");
  const head = [`HTTP ${response.status}`, location && `Location: ${location}`, wait && `Retry-After: ${wait}`].filter(Boolean).join("\n");
  const type = response.headers.get("Content-Type") ?? "";
  if (!/json|^text\//.test(type)) {
    await response.body?.cancel();
    return type === "" ? head : `${head}\n(a body of type ${type})`;
  }
  const { text, isWhole } = await startOf(response);
  return `${head}\n${text}${isWhole ? "" : `\n(cut after ${MAX_CHARS} characters: use \`limit\`, \`projection\` or filters)`}`;
}

/** Reads no more than it returns. */
async function startOf(response: Response): Promise<{ text: string; isWhole: boolean }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += part.value;
    if (text.length <= MAX_CHARS) continue;
    await reader?.cancel();
    return { text: clip(text, MAX_CHARS), isWhole: false };
  }
  return { text, isWhole: true };
}
