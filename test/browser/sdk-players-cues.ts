/** When the cues of the recorded match begin, and how long the advertisement is, in seconds. */
export const CUE_SECONDS = 1.5;
const AD_SECONDS = 60;
/** A SCTE 35 message that leaves the programme. */
const INSERT = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=";
const ID3_SCHEME = "https://aomedia.org/emsg/ID3";

/** A file of the recorded match, with a date range in its playlists, an event in its DASH manifest and an ID3 tag in its first segments. */
export function withCues(path: string, file: Buffer): Buffer {
  if (/\/\d+p\.m3u8$/.test(path)) return Buffer.from(file.toString().replace("#EXTINF", `${dateRange()}\n#EXTINF`));
  if (path.endsWith(".mpd")) return Buffer.from(withEvents(file.toString()));
  return path.endsWith("/0.m4s") ? Buffer.concat([eventMessage(), file]) : file;
}

function dateRange(): string {
  const start = new Date(Date.UTC(2026, 10, 21, 15) + CUE_SECONDS * 1000).toISOString();
  const splice = `0x${Buffer.from(INSERT, "base64").toString("hex").toUpperCase()}`;
  return `#EXT-X-DATERANGE:ID="ad-1",CLASS="com.example.ad",START-DATE="${start}",DURATION=${AD_SECONDS},X-COM-EXAMPLE-AD="Sponsor",SCTE35-OUT=${splice}`;
}

function withEvents(manifest: string): string {
  const binary = `<Signal xmlns="http://www.scte.org/schemas/35/2016"><Binary>${INSERT}</Binary></Signal>`;
  const event = `<Event presentationTime="${CUE_SECONDS * 1000}" duration="${AD_SECONDS * 1000}" id="1">${binary}</Event>`;
  const events = `<EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="1000">${event}</EventStream>`;
  const inBand = `<InbandEventStream schemeIdUri="${ID3_SCHEME}" value=""/>`;
  return manifest.replace(/<Period[^>]*>/, (period) => `${period}${events}`).replace(/<AdaptationSet[^>]*>/, (set) => `${set}${inBand}`);
}

/** An ID3 tag with one text, in an event message box (version 1). */
function eventMessage(): Buffer {
  const content = Buffer.from("\u0003team\0Old Dock");
  const frame = Buffer.concat([Buffer.from("TXXX"), uint32(content.length), Buffer.alloc(2), content]);
  const tag = Buffer.concat([Buffer.from("ID3\u0004\0\0"), uint32(frame.length), frame]);
  const times = [uint32(1_000), uint32(0), uint32(CUE_SECONDS * 1_000), uint32(0xffffffff), uint32(1)];
  const body = Buffer.concat([Buffer.from([1, 0, 0, 0]), ...times, Buffer.from(`${ID3_SCHEME}\0\0`), tag]);
  return Buffer.concat([uint32(body.length + 8), Buffer.from("emsg"), body]);
}

/** Sizes of ID3 below 128 are the same in its own notation. */
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
