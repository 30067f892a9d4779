import { QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { Queries } from "./queries.ts";

test("a list is read again after a change, although its first request was still under way", async () => {
  const queries = new Queries();
  const answers: ((files: string[]) => void)[] = [];
  const list = new QueryObserver(queries, {
    queryKey: ["media"],
    queryFn: () => new Promise<string[]>((resolve) => answers.push(resolve)),
  });
  const stop = list.subscribe(() => undefined);
  expect(answers).toHaveLength(1);
  const refreshed = queries.invalidateQueries({ queryKey: ["media"] });
  await expect.poll(() => answers.length).toBe(2);
  answers[0]?.([]);
  answers[1]?.(["crest.png"]);
  await refreshed;
  expect(list.getCurrentResult()).toMatchObject({ data: ["crest.png"], isError: false });
  stop();
});

test("a list that nobody looks at is read when somebody does", async () => {
  const queries = new Queries();
  const read = { queryKey: ["media"], queryFn: async () => ["crest.png"] };
  queries.setQueryData(["media"], []);
  await queries.invalidateQueries({ queryKey: ["media"] });
  expect(queries.getQueryData(["media"])).toEqual([]);
  const list = new QueryObserver(queries, read);
  const stop = list.subscribe(() => undefined);
  await expect.poll(() => list.getCurrentResult().data).toEqual(["crest.png"]);
  stop();
});
