import { describe, expect, test } from "vitest";
import { protectedLooks, shownName } from "./names.ts";

const looks = protectedLooks(["Harbour City", "Announcer", "Ines Molina"]);
const shown = (name: string) => shownName({ id: "5eed0000000000000e00a003", name }, looks);

describe("shownName", () => {
  test.each(["Dock Ender", "Ines", "Administration", "李明", "محمد", "Old Dock 1910"])("keeps %s", (name) => {
    expect(shown(name)).toBe(name);
  });

  test.each([
    ["the name of the site's own messages", "Announcer"],
    ["another case and other spaces", "ANNOUNCER", "harbour  city", "Harbour_City"],
    ["Cyrillic and Greek letters", "Аnnоunсеr", "Ηarbour Cіty"],
    ["mathematical and full-width letters", "𝐀𝐧𝐧𝐨𝐮𝐧𝐜𝐞𝐫", "Ａｎｎｏｕｎｃｅｒ"],
    ["digits and look-alikes", "lnes Mo1ina", "1nes Molina", "Ann0uncer"],
    ["accents and invisible characters", "Ánnöuncer", "Ann\u200bouncer", "\u202eAnnouncer"],
    ["two letters that look like one", "Adrnin"],
    ["reserved names", "admin", "M0DERATOR", "Ѕуstеm"],
  ])("replaces a name that imitates staff with %s", (_, ...names) => {
    for (const name of names) expect(shown(name), name).toBe("Viewer 00a003");
  });

  test("replaces a name that nobody can see", () => {
    expect(shown("\u200b\u3164")).toBe("Viewer 00a003");
  });
});
