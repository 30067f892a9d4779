/** The first language of an Accept-Language header, which browsers sort by preference. */
export function preferredLanguage(header: string | undefined): string | null {
  return /^\s*([a-z]{2,3}(?:-[a-z0-9]{2,8}){0,2})(?![a-z0-9-])/i.exec(header ?? "")?.[1] ?? null;
}
