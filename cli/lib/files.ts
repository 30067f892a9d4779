import { readFileSync } from "node:fs";
import { type Failure, wrongUsage } from "./failure.ts";
import { type Io } from "./io.ts";
import { isRecord } from "./json.ts";

const READING: Record<string, string> = {
  ENOENT: "It doesn't exist.",
  EISDIR: "It is a folder.",
  EACCES: "You have no permission to read it.",
  EPERM: "You have no permission to read it.",
};
const WRITING: Record<string, string> = {
  ENOENT: "Its folder doesn't exist.",
  ENOTDIR: "Its folder is a file.",
  EACCES: "You have no permission to write there.",
  EPERM: "You have no permission to write there.",
  EROFS: "The disk is read-only.",
  ENOSPC: "The disk is full.",
};

/** The text of a file that the command line names, or of standard input for `-`. */
export async function readInput(path: string, io: Io): Promise<string> {
  if (path === "-") return io.readStdin();
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw wrongUsage(`${path} can't be read.`, {
      cause,
      reason: reasonOf(cause, READING),
      fix: "Check the path, or pass - for standard input.",
    });
  }
}

/** The failure to write a file that the command line names. */
export function unwritable(path: string, cause: unknown, fix: string): Failure {
  return wrongUsage(`${path} can't be written.`, { cause, reason: reasonOf(cause, WRITING), fix });
}

function reasonOf(error: unknown, reasons: Record<string, string>): string {
  const code = isRecord(error) && typeof error.code === "string" ? error.code : "";
  return reasons[code] ?? `The system reports ${code === "" ? String(error) : code}.`;
}
