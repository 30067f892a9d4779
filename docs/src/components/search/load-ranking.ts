import type { SearchFileEntry } from "../../publish/search-file.ts";
import { once, versionFolder } from "./loading.ts";
import { Ranking } from "./ranking.ts";

const rankings = new Map<string, Promise<Ranking>>();

/** The ranked index of a file, such as `search-index-5eed0001.json`, of a version. Each is loaded once, in one request. */
export async function loadRanking(file: string, versionUrl = "/"): Promise<Ranking> {
  const url = `${versionFolder(versionUrl)}/${file}`;
  return await once(rankings, url, async () => {
    const response = await fetch(url);
    const lists: unknown = response.ok ? await response.json() : undefined;
    if (!isSearchFile(lists)) throw new Error(`${url} isn't a search index.`);
    return new Ranking(lists);
  });
}

function isSearchFile(lists: unknown): lists is SearchFileEntry[] {
  return Array.isArray(lists) && lists.every((list) => typeof list === "object" && list !== null && "documents" in list && "index" in list);
}
