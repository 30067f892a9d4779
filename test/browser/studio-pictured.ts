import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { ROOT } from "#scripts/lib/root.mjs";
import { KIT } from "#worker/services/overlays/kit/catalogue.ts";
import { type Member, StudioSite } from "./studio-page.ts";

// What the guide's pictures of Studio show. `npm run pictures:studio` draws them, and a test compares what they consist of with the screens.

/** The pictures, and beside each a list of what is on it. */
export const PICTURES_FOLDER = join(ROOT, "docs/public/studio-pictures");

export interface Picture {
  name: string;
  /** Below `/studio`. */
  screen: (show: Show) => string;
  /** Brings the screen into the state of the picture. */
  arrange: (page: Page) => Promise<void>;
}

/** The site that the pictures are of. */
export interface Show {
  site: StudioSite;
  admin: Member;
  channelId: string;
  overlayId: string;
  pollId: string;
  navigationId: string;
}

export const PICTURES: readonly Picture[] = [
  {
    name: "run",
    screen: ({ channelId }) => `/run/${channelId}`,
    async arrange(page) {
      await page.getByRole("region", { name: "Program" }).getByText("Live", { exact: true }).waitFor();
      await page
        .getByRole("listbox", { name: "Items" })
        .getByRole("option", { name: /Starting eleven/ })
        .waitFor();
    },
  },
  {
    name: "overlay",
    screen: ({ overlayId }) => `/overlays/${overlayId}`,
    async arrange(page) {
      await page.getByRole("heading", { level: 1, name: "Goal" }).waitFor();
    },
  },
  {
    name: "poll",
    screen: ({ pollId }) => `/polls/${pollId}`,
    async arrange(page) {
      await page.getByRole("region", { name: "Live" }).getByText("3 responses").waitFor();
    },
  },
  {
    name: "navigation",
    screen: ({ navigationId }) => `/content/navigation/${navigationId}`,
    async arrange(page) {
      await page.getByRole("row").filter({ hasText: "Tunnel camera" }).click();
      await page.getByRole("group", { name: "Entry: Tunnel camera" }).waitFor();
    },
  },
];

const SLUG = "studio-pictures";
const Poll = z.object({ answers: z.array(z.object({ _id: z.string() })) });

/** A club on match day. */
export async function createShow(url: string): Promise<Show> {
  const site = await StudioSite.create(url, SLUG, { site: "Harbour City FC", admin: "Ada Lindqvist" });
  const admin = await site.admin(SLUG);
  const channel = (slug: string, name: string) => site.create("/page/v2", { type: "channel", slug, data: { name } });
  const channelId = await channel("main-stage", "Main stage");
  const tunnel = await channel("tunnel", "Tunnel camera");
  const [goal, eleven] = [await createOverlay(site, "Goal", "goal"), await createOverlay(site, "Starting eleven", "lower-third")];
  const items = [
    { kind: "note", name: "Kick-off at 15:00", notes: "Wait for the referee." },
    { kind: "broadcast", name: "Starting eleven", overlayId: eleven, broadcast: {} },
    { kind: "wait", name: "Let it breathe", seconds: 10 },
    { kind: "broadcast", name: "Goal, home", overlayId: goal, broadcast: {} },
  ];
  await site.call("POST", "/rundown/v1", { channelId, name: "Derby, first half", items }, admin);
  return {
    ...{ site, admin, channelId, overlayId: goal },
    pollId: await createPoll(site),
    navigationId: await createNavigation(site, channelId, tunnel),
  };
}

function createOverlay(site: StudioSite, name: string, template: "goal" | "lower-third"): Promise<string> {
  const { position, sample } = KIT[template];
  const contents = [{ kind: "kit", template, position, variables: sample }];
  return site.create("/overlay/v1", {
    siteId: site.id,
    name,
    description: "In the club’s colours",
    type: "template",
    duration: 8,
    contents,
  });
}

async function createPoll(site: StudioSite): Promise<string> {
  const answers = [{ answer: "Harbour City" }, { answer: "Draw" }, { answer: "Old Dock" }];
  const question = "Who wins the derby?";
  const pollId = await site.create("/poll/v3", { siteId: site.id, type: "prediction", name: question, question, open: true, answers });
  const [home, , away] = Poll.parse(await site.call("GET", `/poll/v3/${pollId}`)).answers;
  for (const [index, answer] of [home, home, away].entries()) {
    const fan = await site.member(`Fan ${String(index + 1)}`, `fan-${String(index + 1)}@${SLUG}.example`);
    await site.call("POST", `/poll/v3/${pollId}/responses`, { answerId: answer?._id }, fan);
  }
  return pollId;
}

function createNavigation(site: StudioSite, channelId: string, tunnel: string): Promise<string> {
  const behind = { type: "folder", name: "Behind the scenes", children: [{ type: "channel", pageId: tunnel, private: true }] };
  return site.create("/navigation/v1", {
    ...{ siteId: site.id, name: "Match day", type: "default" },
    parents: [{ type: "channel", pageId: channelId }, behind, { type: "folder", name: "Archive" }],
    externalLinks: [{ name: "Tickets", url: "https://tickets.example/" }],
  });
}

/** Opens the screen of a picture, as it is drawn. */
export async function openPicture(browser: Browser, show: Show, { screen, arrange }: Picture): Promise<{ page: Page; errors: string[] }> {
  const opened = await show.site.open(browser, screen(show), show.admin);
  await opened.page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await arrange(opened.page);
  return opened;
}

const SHOWN = /^- (?:heading|region|group|button|link|textbox|combobox|switch|slider|tab|columnheader|listbox|treegrid|row|option|img)\b/;

/** What a screen consists of, as a screen reader lists it, without figures, which change by themselves. */
export async function contentOf(page: Page): Promise<string[]> {
  const snapshot = await page.locator("body").ariaSnapshot();
  return snapshot
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => SHOWN.test(line))
    .map((line) =>
      line
        .replace(/ \[(?:active|selected|checked|disabled|pressed|expanded)\]/g, "")
        .replace(/:$|: .*$/, "")
        .replaceAll(/[0-9a-f]{24}/g, "#")
        .replaceAll(/\d+/g, "#"),
    );
}
