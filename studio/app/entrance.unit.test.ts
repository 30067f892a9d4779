import { describe, expect, test } from "vitest";
import { entranceOf, withoutIntent } from "./entrance.ts";

const entranceAt = (path: string) => entranceOf(new URL(path, "https://tifo.example"));

describe("a page that a link opens", () => {
  test.for([
    ["/studio/setup#token", "setup"],
    ["/studio/join?token=t", "join"],
    ["/studio/reset/?token=t", "reset"],
    ["/studio/reset-global?token=t", "reset-global"],
    ["/studio?intent=i", "intent"],
    ["/studio/run/5eed0000000000000000c001?site=5eed00000000000000000001&intent=i", "intent"],
    // A page of its own keeps its meaning.
    ["/studio/join?token=t&intent=i", "join"],
  ] as const)("%s is for %s", ([path, entrance]) => {
    expect(entranceAt(path)).toBe(entrance);
  });

  test.for(["/studio", "/studio/resets", "/studio/reset/other", "/studio/polls?search=intent"])("%s is a screen", (path) => {
    expect(entranceAt(path)).toBeNull();
  });

  test("leaves an address without the intent", () => {
    const address = new URL("https://tifo.example/studio/polls?site=5eed00000000000000000001&intent=i&type=poll#top");
    expect(withoutIntent(address)).toBe("/studio/polls?site=5eed00000000000000000001&type=poll#top");
  });
});
