/** Null if the text isn't a URL. `URL.parse` would be shorter, but the TVs that this runs on don't have it. */
export function parsedUrl(text: string | undefined | null, base?: string): URL | null {
  try {
    return new URL(text ?? "", base);
  } catch {
    return null;
  }
}

/** Accepts only absolute http and https URLs, because authors of overlays provide the links. */
export function webAddress(text: string | undefined): URL | null {
  const url = parsedUrl(text);
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

/** Opens an http or https URL in a new tab without access to this one; ignores any other. */
export function openLink(address: string | undefined): void {
  const url = webAddress(address);
  if (url) open(url.href, "_blank", "noopener,noreferrer");
}
