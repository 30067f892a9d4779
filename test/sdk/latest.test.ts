import { expect, test } from "vitest";
import { done } from "#sdk/client/index.ts";
import { changeLatest, loaded } from "#sdk/client/latest.ts";
import { json, type Responder, setUp } from "./client-server.ts";

const POLL = { params: { path: { id: "5eed00000000000000006001" } } };

/** Renames a poll, which others change `faster` times between the reading and the change. */
function rename(faster: number, respond: Responder = () => json({})) {
  let version = 1;
  const { client, requests } = setUp((request) => {
    if (request.method === "GET") return json({ name: `v${String(version)}` }, 200, { ETag: `"v${String(version)}"` });
    if (faster-- > 0) version++;
    return request.headers.get("If-Match") === `"v${String(version)}"` ? respond(request) : json({ code: "precondition_failed" }, 412);
  });
  const renamed = changeLatest(
    () => loaded(client.api.GET("/poll/v3/{id}", POLL)),
    ({ name }, headers) => done(client.api.PATCH("/poll/v3/{id}", { ...POLL, body: { name: `${name}-new` }, headers })),
  );
  return { renamed, requests };
}

test.each([0, 1, 2])("a change is based on what is there when others were faster %i times", async (faster) => {
  const { renamed, requests } = rename(faster);
  await renamed;
  const changes = await Promise.all(requests.filter(({ method }) => method === "PATCH").map((request) => request.json()));
  expect(changes.at(-1)).toEqual({ name: `v${String(faster + 1)}-new` });
  expect(changes).toHaveLength(faster + 1);
});

test("a change fails when others were faster three times, or for another reason at once", async () => {
  await expect(rename(3).renamed).rejects.toMatchObject({ status: 412 });
  const other = rename(0, () => json({ code: "forbidden" }, 403));
  await expect(other.renamed).rejects.toMatchObject({ status: 403 });
  expect(other.requests).toHaveLength(2);
});
