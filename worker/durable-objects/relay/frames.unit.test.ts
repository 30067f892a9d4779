import { expect, test } from "vitest";
import { readViewerFrame } from "./frames.ts";

test("half of a surrogate pair in a viewer's frame becomes U+FFFD", () => {
  const frame = String.raw`{"type":"chat.send","id":"1","text":"Hi \ud83d\ude00\ud83d"}`;
  expect(readViewerFrame(frame)).toMatchObject({ type: "chat.send", text: "Hi 😀\ufffd" });
});
