import { expect, test } from "vitest";
import { encodeText, FrameReader } from "./frames.ts";

function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126 ? Buffer.from([0x81, payload.length]) : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, payload]);
}

function readAll(chunks: Buffer[]): string[] {
  const texts: string[] = [];
  const reader = new FrameReader((_, payload) => texts.push(payload.toString()));
  for (const chunk of chunks) reader.read(chunk);
  return texts;
}

test("reads frames regardless of chunk boundaries", () => {
  const texts = ["one", "x".repeat(300), "", "three"];
  const bytes = Buffer.concat(texts.map(frame));
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    expect(readAll(chunks)).toEqual(texts);
  }
});

test("keeps its own copy of a partial frame", () => {
  const memory = Buffer.from(frame("hello"));
  const texts: string[] = [];
  const reader = new FrameReader((_, payload) => texts.push(payload.toString()));
  reader.read(memory.subarray(0, 4));
  memory.fill(0, 0, 4);
  reader.read(memory.subarray(4));
  expect(texts).toEqual(["hello"]);
});

test("throws for a text that needs a longer header", () => {
  expect(() => encodeText("x".repeat(126))).toThrow(RangeError);
});
