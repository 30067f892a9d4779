import { attributesOf } from "./attributes.ts";

/** A playlist that is longer isn't read: four hours of two-second segments have 25,000 lines. */
export const MAX_LINES = 50_000;
/** How much text a playlist may have at its other address, in characters: absolute URIs can be many times as long as those of its origin. */
export const MAX_RELOCATED = 8_000_000;

/** Why a text can't be used as a playlist. */
export class PlaylistProblem extends Error {
  override readonly name = "PlaylistProblem";
}

/** The lines of a playlist, without those that are empty. Throws `PlaylistProblem`. */
export function linesOf(text: string): string[] {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  if (lines > MAX_LINES) throw new PlaylistProblem(`The playlist has more than ${MAX_LINES} lines`);
  const [first, ...rest] = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (first?.trimEnd() !== "#EXTM3U") throw new PlaylistProblem("The response isn't an HLS playlist");
  return [first, ...rest.filter((line) => line !== "")];
}

/** Whether it lists playlists instead of segments. */
export function isMultivariant(lines: string[]): boolean {
  return lines.some((line) => line.startsWith("#EXT-X-STREAM-INF:"));
}

/** Whether nothing will be added to it. */
export function isComplete(lines: string[]): boolean {
  return lines.includes("#EXT-X-ENDLIST");
}

/** The time that a media playlist covers, in milliseconds since 1970 UTC; null without EXT-X-PROGRAM-DATE-TIME. */
export function windowOf(lines: string[]): { from: number; to: number } | null {
  let from: number | null = null;
  let at: number | null = null;
  let before = 0;
  for (const line of lines) {
    if (line.startsWith("#EXT-X-PROGRAM-DATE-TIME:")) {
      const time = Date.parse(line.slice(line.indexOf(":") + 1).trim());
      if (Number.isNaN(time)) continue;
      at = time;
      from ??= time - before;
    } else if (line.startsWith("#EXTINF:")) {
      const seconds = Number.parseFloat(line.slice(8));
      const duration = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
      if (at === null) before += duration;
      else at += duration;
    }
  }
  return from === null || at === null ? null : { from, to: at };
}

/** Where the addresses in a playlist lead. */
export interface Addresses {
  /** The playlist's own URL, to which its URIs are relative. */
  base: string;
  /** The address at which players load another playlist, given its absolute URL. */
  playlist(url: string): string;
}

/** Attributes with the address of another playlist, by tag; those of other tags lead to segments, keys and the like. */
const PLAYLIST_TAGS = ["#EXT-X-MEDIA:", "#EXT-X-RENDITION-REPORT:"];
const ADDRESSES = new Set(["URI", "SERVER-URI", "X-ASSET-URI", "X-ASSET-LIST"]);
/** Requests that wait for the next segment, or for a part of the playlist only, are between the player and its origin. */
const ORIGIN_ONLY = ["CAN-BLOCK-RELOAD", "CAN-SKIP-UNTIL", "CAN-SKIP-DATERANGES"];

/** The same playlist for another address: with absolute URIs, and those of playlists where `addresses` says. Throws `PlaylistProblem`. */
export function relocate(lines: string[], addresses: Addresses): string[] {
  const listsPlaylists = isMultivariant(lines);
  let room = MAX_RELOCATED;
  const write = (text: string): string => {
    room -= text.length;
    if (room < 0) throw new PlaylistProblem(`With absolute addresses, the playlist has more than ${MAX_RELOCATED / 1_000_000} MB`);
    return text;
  };
  return lines.flatMap((line) => {
    if (line.startsWith("#EXT-X-DEFINE:")) throw new PlaylistProblem("Playlists with variables (EXT-X-DEFINE) aren't supported");
    if (line.startsWith("#EXT-X-SERVER-CONTROL:")) return withoutOriginOnly(line).map(write);
    if (line.startsWith("#EXT") && line.includes("=")) return withAddresses(line, addresses, write);
    if (line.startsWith("#")) return write(line);
    const url = absolute(line.trim(), addresses.base);
    return write(listsPlaylists ? addresses.playlist(url) : url);
  });
}

function withAddresses(line: string, addresses: Addresses, write: (text: string) => string): string {
  const start = line.indexOf(":") + 1;
  const list = line.slice(start);
  const isPlaylist = PLAYLIST_TAGS.some((tag) => line.startsWith(tag));
  let changed = write(line.slice(0, start));
  let done = 0;
  for (const { name, value, quoted, from, to } of attributesOf(list)) {
    if (!quoted || !ADDRESSES.has(name)) continue;
    const url = absolute(value, addresses.base);
    changed += write(list.slice(done, from)) + write(isPlaylist ? addresses.playlist(url) : url);
    done = to;
  }
  return changed + write(list.slice(done));
}

function withoutOriginOnly(line: string): string[] {
  const start = line.indexOf(":") + 1;
  const kept = attributesOf(line.slice(start)).filter(({ name }) => !ORIGIN_ONLY.includes(name));
  return kept.length === 0 ? [] : [line.slice(0, start) + kept.map(({ name, value }) => `${name}=${value}`).join(",")];
}

/** A URI that can't be resolved stays as it is: the player reports it. */
function absolute(uri: string, base: string): string {
  return URL.parse(uri, base)?.href ?? uri;
}
