/** Null where the text is no address. The platform's own way to ask is younger than the TVs that this runs on. */
export function parsedUrl(text: string | undefined | null, base?: string): URL | null {
  try {
    return new URL(text ?? "", base);
  } catch {
    return null;
  }
}

/** Only the web's own addresses, whole: a link may come from whoever writes overlays. */
export function webAddress(text: string | undefined): URL | null {
  const url = parsedUrl(text);
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

/** Opens the web's own addresses in a tab that knows nothing of this one; any other leads nowhere. */
export function openLink(address: string | undefined): void {
  const url = webAddress(address);
  if (url) open(url.href, "_blank", "noopener,noreferrer");
}
