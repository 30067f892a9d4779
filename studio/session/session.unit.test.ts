import { describe, expect, test } from "vitest";
import type { KeyValueStorage } from "#studio/ui/storage.ts";
import { currentSite, knownSites, rememberCurrentSite, rememberSites } from "./sites.ts";
import { accountIdOf, sharedTokens } from "./token-store.ts";

const SITE = "5eed00000000000000000001";
const OTHER_SITE = "5eed00000000000000000002";
const TOKENS = { jwt: "a.b.c", refreshToken: "r1" };
const FULL: KeyValueStorage = {
  getItem: () => null,
  setItem() {
    throw new Error("The quota has been exceeded");
  },
  removeItem: () => undefined,
};

function memory(): KeyValueStorage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

/** What the browser sends to all tabs but the one that changed the storage. */
function storageEvent(key: string): Event {
  return Object.assign(new Event("storage"), { key });
}

describe("the tokens of a session", () => {
  test("are shared with the other tabs, which are notified", () => {
    const storage = memory();
    const [first, second] = [new EventTarget(), new EventTarget()];
    const mine = sharedTokens(SITE, storage, first);
    const theirs = sharedTokens(SITE, storage, second);
    let notified = 0;
    theirs.subscribe(() => notified++);
    mine.set(TOKENS);
    second.dispatchEvent(storageEvent(`tifo.studio.session.${SITE}`));
    expect([theirs.get(), notified]).toEqual([TOKENS, 1]);
    mine.set(null);
    second.dispatchEvent(storageEvent(`tifo.studio.session.${SITE}`));
    expect([theirs.get(), notified]).toEqual([null, 2]);
  });

  test("belong to one site", () => {
    const storage = memory();
    sharedTokens(SITE, storage, new EventTarget()).set(TOKENS);
    expect(sharedTokens(OTHER_SITE, storage, new EventTarget()).get()).toBeNull();
  });

  test("last until the page closes if the browser stores nothing", () => {
    const tokens = sharedTokens(SITE, FULL, new EventTarget());
    tokens.set(TOKENS);
    expect(tokens.get()).toEqual(TOKENS);
  });

  test("are ignored if somebody else has written something there", () => {
    const storage = memory();
    for (const text of ["{", "null", "[]", '{"jwt":1,"refreshToken":"r"}']) {
      storage.setItem(`tifo.studio.session.${SITE}`, text);
      expect(sharedTokens(SITE, storage, new EventTarget()).get()).toBeNull();
    }
  });

  test("name the account that they are for", () => {
    expect(accountIdOf(`x.${btoa(JSON.stringify({ sub: "account-1" }))}.y`)).toBe("account-1");
    expect(accountIdOf("not a token")).toBeNull();
  });
});

describe("the site of a tab", () => {
  const page = (search = "", host = "studio.example") => new URL(`https://${host}/studio${search}`);

  test("is the one in the address, then the tab's own, then that of the last tab", () => {
    const storages = { tab: memory(), browser: memory() };
    rememberCurrentSite({ tab: memory(), browser: storages.browser }, OTHER_SITE);
    expect(currentSite(storages, page())).toBe(OTHER_SITE);
    rememberCurrentSite({ tab: storages.tab, browser: memory() }, SITE);
    expect(currentSite(storages, page())).toBe(SITE);
    expect(currentSite(storages, page(`?site=${OTHER_SITE}`))).toBe(OTHER_SITE);
  });

  test("of the address is kept by the tab, whose next addresses don't name it, and by no other tab", () => {
    const storages = { tab: memory(), browser: memory() };
    expect(currentSite(storages, page(`?site=${OTHER_SITE}`))).toBe(OTHER_SITE);
    expect(currentSite(storages, page())).toBe(OTHER_SITE);
    expect(currentSite({ ...storages, tab: memory() }, page())).toBeNull();
  });

  test("is unknown at first, except for the demo on this machine", () => {
    expect(currentSite({ tab: memory(), browser: memory() }, page())).toBeNull();
    expect(currentSite({ tab: memory(), browser: memory() }, page("", "localhost"))).toBe(SITE);
  });

  test("is never something that isn't a site's id", () => {
    expect(currentSite({ tab: memory(), browser: memory() }, page("?site=../../x"))).toBeNull();
  });

  test("is offered again by name, with the latest name", () => {
    const storages = { browser: memory() };
    rememberSites(storages, [
      { siteId: SITE, name: "old" },
      { siteId: OTHER_SITE, name: "rival" },
    ]);
    rememberSites(storages, [{ siteId: SITE, name: "demo" }]);
    expect(knownSites(storages)).toEqual([
      { siteId: SITE, name: "demo" },
      { siteId: OTHER_SITE, name: "rival" },
    ]);
  });
});
