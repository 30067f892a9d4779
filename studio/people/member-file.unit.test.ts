import { expect, test } from "vitest";
import { importMembers, readMembers } from "./member-file.ts";

const read = (text: string) => readMembers(new Blob([text]));

test("finds the columns by their names, in any order, as spreadsheets write them", async () => {
  const { rows, problems } = await read('\uFEFFName,account_id,E-Mail\r\n"Moreno, Ada",1, ada@club.example \r\n');
  expect(rows).toEqual([{ row: 2, email: "ada@club.example", name: "Moreno, Ada" }]);
  expect(problems).toEqual([]);
});

test("names what is wrong with each row, and keeps the others", async () => {
  const { rows, problems } = await read("email,name\nnobody,Ada\nada@club.example,\nruth@club.example,Ruth\nRUTH@club.example,Ruth\n");
  expect(rows.map(({ row }) => row)).toEqual([4]);
  expect(problems).toEqual([
    { row: 2, value: "nobody", problem: "This isn't an email address." },
    { row: 3, value: "ada@club.example", problem: "The name is missing." },
    { row: 5, value: "RUTH@club.example", problem: "The same address is in row 4." },
  ]);
});

test("reads what an export escaped as it was", async () => {
  expect((await read("email,name\na@club.example,'=Ada\n")).rows[0]?.name).toBe("=Ada");
});

test.each([
  ["", "The file is empty."],
  ["mail,name\n", "The first row has to name the columns: email and name."],
  ['email,name\n"a', /^Row 2: /],
])("rejects the whole file %j", async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

const rows = Array.from({ length: 20 }, (_, index) => ({ row: index + 2, email: `${String(index)}@club.example`, name: "A" }));

test("a row that fails doesn't stop the others, and each group of rows is reported when it is done", async () => {
  const reports: { done: number; problems: { row: number }[] }[] = [];
  const send = (group: readonly { row: number }[]) => Promise.resolve(group.map(({ row }) => (row % 7 === 0 ? "No" : null)));
  await importMembers(rows, send, { report: (progress) => reports.push(progress), stop: new AbortController().signal, size: 8 });
  expect(reports.map(({ done }) => done)).toEqual([8, 16, 20]);
  expect(reports.map(({ problems }) => problems.map(({ row }) => row))).toEqual([[7], [7, 14], [7, 14, 21]]);
});

test("sends nothing more once it is stopped, or once a request fails", async () => {
  const stop = new AbortController();
  const sent: number[] = [];
  const options = { report: () => undefined, stop: stop.signal, size: 8 };
  const send = (group: readonly { row: number }[]) => {
    sent.push(group.length);
    stop.abort();
    return Promise.resolve([]);
  };
  await importMembers(rows, send, options);
  expect(sent).toEqual([8]);
  const fails = () => Promise.reject(new Error("No"));
  await expect(importMembers(rows, fails, { ...options, stop: new AbortController().signal })).rejects.toThrow("No");
});
