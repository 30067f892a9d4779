import { ok } from "../client/index.ts";
import type { Session } from "./session.ts";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. `TIFO_SCRIPT`: whether this is the script for plain pages. */
declare const TIFO_SDK_VERSION: string;
declare const TIFO_SCRIPT: boolean;

type Sanitize = (html: string) => DocumentFragment;

const importSanitizer = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("./sanitize.ts");

/** Inserts the site's `settings.code_injection.body` into an element that the host app has chosen. If it fails, the element stays empty. */
export async function injectSiteCode(element: Element, session: Session, load = loadSanitizer): Promise<void> {
  try {
    const { settings } = await ok(session.client.api.GET("/site/v1"));
    const html = settings.code_injection?.body;
    if (html) element.replaceChildren((await load(session.origin))(html));
  } catch (error) {
    console.warn("Tifo: the site's code could not be inserted", error);
  }
}

async function loadSanitizer(origin: string): Promise<Sanitize> {
  if (importSanitizer) return (await importSanitizer()).sanitize;
  const address = `${origin}/sdk/releases/${TIFO_SDK_VERSION}/sanitize.js`;
  const file: unknown = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address);
  if (!isSanitizer(file)) throw new Error("Tifo: the deployment has no sanitizer");
  return file.sanitize;
}

function isSanitizer(file: unknown): file is { sanitize: Sanitize } {
  return typeof file === "object" && file !== null && "sanitize" in file && typeof file.sanitize === "function";
}
