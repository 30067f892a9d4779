import { describe, expect, test } from "vitest";
import { zipOf } from "#test/graphics.ts";
import { readZip } from "./zip.ts";

const LIMITS = { files: 5, bytes: 1_000_000, fileBytes: 600_000, ratio: 100 };
const read = (archive: Blob, limits = LIMITS) => readZip(archive, "file", limits);
const text = (content: Uint8Array) => new TextDecoder().decode(content);

/** The archive with these bytes in place of others of the same length, wherever they occur. */
async function patched(archive: Blob, before: string | number[], after: string | number[]): Promise<Blob> {
  const bytes = Buffer.from(await archive.arrayBuffer());
  const [from, to] = [bytesOf(before), bytesOf(after)];
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at);
  return new Blob([bytes]);
}

describe("the files of an archive", () => {
  test("are read with their paths, without directories and what systems add", async () => {
    const archive = await zipOf({ "a.txt": "A", "b/c.txt": "C", "__MACOSX/a.txt": "x", "b/.DS_Store": "x", "é/名前.txt": "ok" });
    const files = await read(archive);
    expect(files.map(({ path, content }) => [path, text(content)])).toEqual([
      ["a.txt", "A"],
      ["b/c.txt", "C"],
      ["é/名前.txt", "ok"],
    ]);
  });

  test.each([
    "../a.txt",
    "/a.txt",
    "a/../../b.txt",
    "C:/a.txt",
    "a\\b.txt",
    "a//b.txt",
    "./a.txt",
    "a/.",
    "a\u0000.txt",
    `${"a/".repeat(12)}b`,
  ])("are rejected with the path %j", async (path) => {
    const placeholder = "p".repeat(Buffer.byteLength(path));
    const archive = await patched(await zipOf({ [placeholder]: "x" }), placeholder, path);
    await expect(read(archive)).rejects.toMatchObject({ code: "invalid_request" });
  });

  // The library accepts these.
  test.each(["a/b:c.txt", "a /b.txt", "a/b\u0007.txt", "a/b*.txt"])(
    "are rejected with a path that not every system has, as %j",
    async (path) => {
      await expect(read(await zipOf({ [path]: "x" }))).rejects.toThrow("unsafe name");
    },
  );

  test("may have paths of 200 characters and of ten segments, and no more", async () => {
    for (const path of ["p".repeat(200), `${"a/".repeat(9)}b`]) expect(await read(await zipOf({ [path]: "x" }))).toMatchObject([{ path }]);
    for (const path of ["p".repeat(201), `${"a/".repeat(10)}b`])
      await expect(read(await zipOf({ [path]: "x" }))).rejects.toThrow("unsafe name");
  });

  test("are rejected if two have the same name, or differ by case alone", async () => {
    await expect(read(await patched(await zipOf({ "one.txt": "1", "two.txt": "2" }), "two.txt", "one.txt"))).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(read(await zipOf({ "one.txt": "1", "One.txt": "2" }))).rejects.toThrow("twice");
  });

  test("are rejected if one is encrypted", async () => {
    await expect(read(await zipOf({ "a.txt": "x" }, { password: "secret" }))).rejects.toThrow("a.txt is encrypted");
  });

  test("are rejected if one is a symbolic link", async () => {
    await expect(read(await zipOf({ "a.txt": { content: "/etc/passwd", unixMode: 0o120777 } }))).rejects.toThrow("symbolic link");
  });

  test("are at most as many and as large as the limits", async () => {
    const six = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}.txt`, "x"]));
    await expect(read(await zipOf(six))).rejects.toThrow("At most 5 files");
    const ignored = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`__MACOSX/${index}.txt`, "x"]));
    await expect(read(await zipOf(ignored))).rejects.toThrow("At most 5 files");
    const noise = crypto.getRandomValues(new Uint8Array(60_000));
    const large = new Uint8Array(590_000).map((_, index) => noise[index % noise.length] ?? 0);
    await expect(read(await zipOf({ "a.bin": large, "b.bin": large }), { ...LIMITS, ratio: 1_000 })).rejects.toThrow("together");
    await expect(read(await zipOf({ "a.bin": large }), { ...LIMITS, fileBytes: 1_000 })).rejects.toThrow("more than 1000 bytes");
  });

  test("may be as many and as large as the limits, together and each", async () => {
    const five = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.txt`, "x".repeat(20)]));
    expect(await read(await zipOf(five), { ...LIMITS, bytes: 100, fileBytes: 20 })).toHaveLength(5);
    await expect(read(await zipOf(five), { ...LIMITS, bytes: 99, fileBytes: 20 })).rejects.toThrow("together");
    await expect(read(await zipOf(five), { ...LIMITS, bytes: 100, fileBytes: 19 })).rejects.toThrow("more than 19 bytes");
  });

  test("are rejected if they are compressed as only bombs are", async () => {
    await expect(read(await zipOf({ "zeros.bin": new Uint8Array(500_000) }))).rejects.toThrow("compressed too strongly");
  });

  test("are rejected if their contents are larger than the archive says", async () => {
    const size = 500_000;
    const archive = await zipOf({ "zeros.bin": new Uint8Array(size) });
    const lie = await patched(archive, uint32(size), uint32(10));
    await expect(read(lie)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("are rejected if the archive is damaged, truncated or none", async () => {
    const archive = await zipOf({ "a.txt": "hello hello hello" });
    for (const broken of [
      new Blob([]),
      new Blob(["PK"]),
      archive.slice(0, -10),
      new Blob([archive, "more"]),
      new Blob(["more", archive]),
      await patched(await zipOf({ "a.txt": "hello hello hello" }, { level: 0 }), "hello", "jello"),
    ])
      await expect(read(broken)).rejects.toMatchObject({ code: "invalid_request" });
  });
});

function bytesOf(value: string | number[]): Buffer {
  return typeof value === "string" ? Buffer.from(value) : Buffer.from(value);
}

function uint32(value: number): number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return [...bytes];
}
