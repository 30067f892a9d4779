import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attributesOf } from "./attributes.ts";
import { dateRangesOf, dateRangeTag } from "./date-ranges.ts";
import { isMultivariant, linesOf, MAX_LINES, PlaylistProblem, relocate, windowOf } from "./playlist.ts";

const BASE = "https://live.demo.example/derby/main.m3u8?token=a";
const addresses = { base: BASE, playlist: (url: string) => `via:${url}` };
const moved = (...lines: string[]) => relocate(linesOf(["#EXTM3U", ...lines].join("\n")), addresses).slice(1);

describe("an attribute list", () => {
  test("has quoted values with commas, and others", () => {
    const list = attributesOf('ID="a,b",DURATION=3.5,X-COM-TEAM="Old, Dock"');
    expect(list.map(({ name, value }) => [name, value])).toEqual([
      ["ID", "a,b"],
      ["DURATION", "3.5"],
      ["X-COM-TEAM", "Old, Dock"],
    ]);
  });

  test("is read to its end, whatever it contains, and each value is where it says", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("A", "=", '"', ",", " ", "1"), maxLength: 200 }), (text) => {
        for (const { value, from, to } of attributesOf(text)) expect(text.slice(from, to)).toBe(value);
      }),
    );
  });

  test("of a million characters without an end costs no more than its length", () => {
    for (const part of ["A", "A=", 'A="', ",", "A=1,"]) expect(attributesOf(part.repeat(250_000)).length).toBeLessThanOrEqual(1_000);
  });
});

describe("a playlist", () => {
  test.each(["", "#EXTM3", "<html>", "\n#EXTM3U", "#EXTM3Unknown"])("doesn't start with %j", (text) => {
    expect(() => linesOf(text)).toThrow(PlaylistProblem);
  });

  test("may start with a byte order mark and end its lines in any way", () => {
    expect(linesOf("\uFEFF#EXTM3U\r\n#EXTINF:6,\r\n\r\n1.ts")).toEqual(["#EXTM3U", "#EXTINF:6,", "1.ts"]);
  });

  test("has a maximum number of lines", () => {
    expect(() => linesOf(`#EXTM3U\n${"a\n".repeat(MAX_LINES)}`)).toThrow("more than");
  });

  test("covers the time from its first segment to the end of its last", () => {
    const lines = [
      "#EXTINF:4.000,",
      "1.ts",
      "#EXT-X-PROGRAM-DATE-TIME:2026-11-21T15:00:04.000Z",
      "#EXTINF:6,",
      "2.ts",
      "#EXTINF:2.5,live",
      "3.ts",
    ];
    expect(windowOf(lines)).toEqual({ from: Date.UTC(2026, 10, 21, 15), to: Date.UTC(2026, 10, 21, 15, 0, 12, 500) });
    expect(windowOf(["#EXTINF:4,", "1.ts"])).toBeNull();
    expect(windowOf(["#EXT-X-PROGRAM-DATE-TIME:soon", "#EXTINF:x,", "1.ts"])).toBeNull();
  });
});

describe("a playlist at another address", () => {
  test("has absolute segments, keys, maps and parts", () => {
    expect(
      moved(
        '#EXT-X-KEY:METHOD=AES-128,URI="key.bin",IV=0x1',
        '#EXT-X-MAP:URI="init.mp4",BYTERANGE="100@0"',
        '#EXT-X-PART:DURATION=0.3,URI="part1.mp4"',
        "#EXTINF:6,",
        "../1.ts?a=1",
      ),
    ).toEqual([
      '#EXT-X-KEY:METHOD=AES-128,URI="https://live.demo.example/derby/key.bin",IV=0x1',
      '#EXT-X-MAP:URI="https://live.demo.example/derby/init.mp4",BYTERANGE="100@0"',
      '#EXT-X-PART:DURATION=0.3,URI="https://live.demo.example/derby/part1.mp4"',
      "#EXTINF:6,",
      "https://live.demo.example/1.ts?a=1",
    ]);
  });

  test("leads to its media playlists through that address, and to everything else directly", () => {
    expect(
      moved(
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="audio.m3u8"',
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="frames.m3u8"',
        "#EXT-X-STREAM-INF:BANDWIDTH=2",
        "high/index.m3u8",
      ),
    ).toEqual([
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="via:https://live.demo.example/derby/audio.m3u8"',
      '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="https://live.demo.example/derby/frames.m3u8"',
      "#EXT-X-STREAM-INF:BANDWIDTH=2",
      "via:https://live.demo.example/derby/high/index.m3u8",
    ]);
  });

  test("offers no blocking reloads and no partial playlists", () => {
    expect(moved("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=24,PART-HOLD-BACK=1.0", "#EXTINF:1,", "1.ts")[0]).toBe(
      "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1.0",
    );
    expect(moved("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES")).toEqual([]);
  });

  test("keeps other schemes, comments and tags it doesn't know", () => {
    const lines = [
      '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key"',
      "# a comment",
      '#EXT-X-UNKNOWN:TEXT="a=b"',
      "#EXTINF:6,",
      "data:text/plain,1",
    ];
    expect(moved(...lines)).toEqual(lines);
  });

  test("is refused before it has more text than it may, however short its own is", () => {
    const base = `https://live.demo.example/${"a".repeat(3_900)}/`;
    const long = (lines: string[]) => () => relocate(lines, { base, playlist: (url) => url });
    expect(long(Array.from({ length: 2_000 }, (_, index) => `${index}`))).not.toThrow();
    expect(long(Array.from({ length: 3_000 }, (_, index) => `${index}`))).toThrow("more than 8 MB");
    expect(long(Array.from({ length: 5 }, () => `#EXT-X-PART:${'URI="a",'.repeat(500)}`))).toThrow("more than 8 MB");
    expect(long([`#EXT-X-UNKNOWN:A=${"a".repeat(8_000_000)}`])).toThrow("more than 8 MB");
  });

  test("has no variables", () => {
    expect(() => moved('#EXT-X-DEFINE:NAME="host",VALUE="a"')).toThrow("EXT-X-DEFINE");
  });

  test("never gains or loses a segment, whatever its lines are", () => {
    const line = fc.oneof(
      fc.constantFrom("#EXTINF:6,", "1.ts", '#EXT-X-KEY:URI="k",A="', "#EXT-X-MAP:URI=", '#EXT-X-PART:URI="'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line), (list) => {
        const before = linesOf(["#EXTM3U", ...list.map((one) => one.replace(/[\r\n]/g, ""))].join("\n"));
        if (isMultivariant(before) || before.some((one) => one.startsWith("#EXT-X-DEFINE:"))) return;
        const after = relocate(before, addresses);
        const segments = (lines: string[]) => lines.filter((one) => !one.startsWith("#")).length;
        expect(segments(after)).toBe(segments(before));
      }),
    );
  });
});

describe("a date range", () => {
  const range = {
    id: "ad-1",
    class: "com.example.ad",
    startDate: Date.UTC(2026, 10, 21, 15),
    endDate: null,
    duration: 30.5,
    plannedDuration: 31,
    attributes: { "X-COM-EXAMPLE-AD-ID": "XYZ, 123", "SCTE35-OUT": "0xFC30" },
  };

  test("is read as it was written", () => {
    expect(dateRangesOf([dateRangeTag(range)], 10)).toEqual([range]);
  });

  test("is one range in several tags with its id", () => {
    const lines = [
      '#EXT-X-DATERANGE:ID="a",START-DATE="2026-11-21T15:00:00Z",SCTE35-OUT=0xFC',
      '#EXT-X-DATERANGE:ID="a",DURATION=5,SCTE35-IN=0xFD',
    ];
    expect(dateRangesOf(lines, 10)).toMatchObject([
      { id: "a", startDate: Date.UTC(2026, 10, 21, 15), duration: 5, attributes: { "SCTE35-OUT": "0xFC", "SCTE35-IN": "0xFD" } },
    ]);
  });

  test("without an id, or beyond the maximum, is left out", () => {
    const lines = ["#EXT-X-DATERANGE:DURATION=1", ...Array.from({ length: 20 }, (_, n) => `#EXT-X-DATERANGE:ID="${n}"`)];
    expect(dateRangesOf(lines, 5).map(({ id }) => id)).toEqual(["15", "16", "17", "18", "19"]);
  });

  test("is found among very many, without keeping all of them", () => {
    const lines = Array.from({ length: 50_000 }, (_, n) => `#EXT-X-DATERANGE:ID="${n}",X-A=1,X-B=2`);
    const found = dateRangesOf([...lines, '#EXT-X-DATERANGE:ID="49999",DURATION=5'], 5);
    expect(found.map(({ id }) => id)).toEqual(["49995", "49996", "49997", "49998", "49999"]);
    expect(found[4]).toMatchObject({ duration: 5, attributes: { "X-A": "1", "X-B": "2" } });
  });

  test("can't break out of its line, whatever it says", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (id, value) => {
        const tag = dateRangeTag({ ...range, id: `x${id}`, attributes: { "X-TIFO-TEXT": value } });
        expect(tag).not.toMatch(/[\r\n]/);
        expect(attributesOf(tag.slice(tag.indexOf(":") + 1)).map(({ name }) => name)).toEqual([
          "ID",
          "CLASS",
          "START-DATE",
          "DURATION",
          "PLANNED-DURATION",
          "X-TIFO-TEXT",
        ]);
      }),
    );
  });
});
