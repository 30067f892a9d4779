import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCues, type CuePosition, parseId3, parseSplice, type StreamCue } from "#sdk/cues/index.ts";
import { bytesOf } from "#sdk/cues/reader.ts";

const INSERT = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=";
const SIGNAL = "/DA0AAAAAAAA///wBQb+cr0AUAAeAhxDVUVJSAAAjn/PAAGlmbAICAAAAAAsoKGKNAIAmsnRfg==";

const section = (text: string) => bytesOf(text, 4_096) ?? new Uint8Array();
const ascii = (text: string) => [...new TextEncoder().encode(text)];
const frame = (key: string, content: number[]) => [...ascii(key), 0, 0, 0, content.length, 0, 0, ...content];
const tag = (...frames: number[][]) => {
  const all = frames.flat();
  return Uint8Array.from([...ascii("ID3"), 4, 0, 0, 0, 0, all.length >> 7, all.length & 0x7f, ...all]);
};

describe("a SCTE 35 section", () => {
  test("is read with its insert, its time and its break", () => {
    expect(parseSplice(section(INSERT))).toMatchObject({
      ...{ command: "insert", eventId: 0x4800008f, out: true, autoReturn: true, cancelled: false },
      at: 21514.559088888887,
      duration: 60.29356666666666,
    });
  });

  test("is read with its segments", () => {
    const splice = parseSplice(section(SIGNAL));
    expect(splice).toMatchObject({ command: "time_signal", at: 21388.766755555556, out: null });
    expect(splice?.segments).toEqual([
      {
        ...{ eventId: 0x4800008e, cancelled: false, typeId: 0x34, duration: 307, upidType: 8, upid: "000000002ca0a18a" },
        ...{ number: 2, expected: 0 },
      },
    ]);
  });

  test("that is damaged in any bit is nothing", () => {
    const bytes = section(INSERT);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Uint8Array.from(bytes);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
      expect(parseSplice(damaged), `bit ${bit}`).toBeNull();
    }
  });

  test("of any bytes at all is read or rejected, without an exception", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void parseSplice(bytes)));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void parseSplice(Uint8Array.from([0xfc, 0x30, bytes.length, ...bytes]))),
    );
  });
});

describe("an ID3 tag", () => {
  test("is read with texts in its encodings, and private data in hexadecimal", () => {
    const frames = parseId3(
      tag(
        frame("TXXX", [3, ...ascii("team"), 0, ...ascii("Old Dock")]),
        frame("TIT2", [1, 0xff, 0xfe, 0x41, 0, 0x42, 0]),
        frame("PRIV", [...ascii("com.example"), 0, 1, 255]),
      ),
    );
    expect(frames).toEqual([
      { key: "TXXX", info: "team", value: "Old Dock" },
      { key: "TIT2", info: "", value: "AB" },
      { key: "PRIV", info: "com.example", value: "01ff" },
    ]);
  });

  test("that ends too early has the frames before", () => {
    const whole = tag(frame("TIT2", [3, ...ascii("Goal")]), frame("TIT3", [3, ...ascii("Later")]));
    expect(parseId3(whole.subarray(0, whole.length - 3))).toEqual([{ key: "TIT2", info: "", value: "Goal" }]);
  });

  test("of any bytes at all is read or empty, without an exception and with a limited number of frames", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(parseId3(Uint8Array.from([...ascii("ID3"), 4, 0, 0, 0, 0, 3, 16, ...bytes])).length).toBeLessThanOrEqual(64);
      }),
    );
    const many = Array.from({ length: 100 }, () => frame("TIT2", [3, 65]));
    expect(parseId3(tag(...many))).toHaveLength(64);
  });
});

describe("the cues of a player", () => {
  function player() {
    const position: CuePosition = { time: 0, date: null };
    const seen: StreamCue[] = [];
    const cues = createCues({ position: () => position, onCue: (cue) => seen.push(cue) });
    const at = (time: number, date?: number) => {
      position.time = time;
      if (date !== undefined) position.date = new Date(date);
      cues.update();
    };
    return { cues, seen, at, take: () => seen.splice(0).map(({ id }) => id) };
  }

  const sample = (pts: number) => ({ pts, type: "org.id3", data: tag(frame("TIT2", [3, ...ascii(`At ${pts}`)])) });
  const range = (id: string, start: number, attr: Record<string, string> = {}) => ({
    id,
    class: "com.example.ad",
    startDate: new Date(start),
    attr,
  });

  test("are passed on once, when the video reaches them", () => {
    const { cues, at, seen } = player();
    cues.samples([sample(10), sample(20)]);
    at(9.9);
    expect(seen).toEqual([]);
    at(10);
    at(10.5);
    expect(seen).toMatchObject([{ kind: "id3", frames: [{ key: "TIT2", value: "At 10" }] }]);
    at(20.2);
    expect(seen).toHaveLength(2);
  });

  test("are passed on again after the viewer has gone back, and not when skipped", () => {
    const { cues, at, take } = player();
    cues.samples([sample(10), sample(20)]);
    at(10);
    at(30);
    expect(take()).toEqual(["org.id3 10"]);
    at(5);
    at(10);
    expect(take()).toEqual(["org.id3 10"]);
  });

  test("in date ranges follow the stream's date, however often the playlist is read", () => {
    const { cues, at, seen } = player();
    const start = Date.UTC(2026, 10, 21, 15);
    const ranges = {
      ad: {
        ...range("ad", start, { "SCTE35-OUT": "0x" + [...section(INSERT)].map((byte) => byte.toString(16).padStart(2, "0")).join("") }),
        duration: 30,
      },
    };
    cues.dateRanges(ranges);
    at(100, start - 1);
    expect(seen).toEqual([]);
    at(101, start + 10);
    cues.dateRanges(ranges);
    at(102, start + 20);
    expect(seen).toMatchObject([{ kind: "daterange", id: "ad", scheme: "com.example.ad", duration: 30, splice: { out: true } }]);
  });

  test("that were over before they were found are left out", () => {
    const { cues, at, seen } = player();
    at(100, Date.UTC(2026, 10, 21, 15));
    cues.samples([sample(90)]);
    cues.dateRanges({ old: range("old", Date.UTC(2026, 10, 21, 14)) });
    expect(seen).toEqual([]);
  });

  test("in event messages of DASH are read by their scheme", () => {
    const { cues, at, seen } = player();
    const message = { id: 7, schemeIdUri: "urn:scte:scte35:2013:bin", messageData: section(SIGNAL), calculatedPresentationTime: 3 };
    cues.eventMessage(message);
    cues.eventMessage({ ...message, id: 8, messageData: INSERT });
    cues.eventMessage({ ...message, id: 9, messageData: { not: "bytes" } });
    at(3);
    expect(seen.map(({ splice }) => splice?.command)).toEqual(["time_signal", "insert"]);
  });

  test("wait while the video has no time, and are forgotten with another stream", () => {
    const { cues, seen, at } = player();
    cues.samples([sample(10)]);
    cues.clear();
    at(10);
    expect(seen).toEqual([]);
  });

  test("are at most a thousand", () => {
    const { cues, at, seen } = player();
    cues.samples(Array.from({ length: 1_200 }, (_, n) => ({ ...sample(10 + n / 10_000) })));
    at(10.5);
    expect(seen.length).toBe(1_000);
  });
});
