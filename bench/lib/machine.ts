import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cpus, loadavg, platform, release, totalmem } from "node:os";

/** The server under test and the client each have a core of their own. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

const TICKS_PER_SECOND = 100;

/** Whether processes can be pinned to cores on this machine. */
export const canPin = platform() === "linux" && cpus().length >= 2 && spawnSync("taskset", ["-V"]).status === 0;

/** Pins this process with all its threads, and whatever it starts, to the client's core. */
export function pinClient(): void {
  pin(String(CLIENT_CORE));
}

/** Lets it use all cores again. */
export function unpin(): void {
  pin(`0-${cpus().length - 1}`);
}

function pin(cores: string): void {
  if (canPin) execFileSync("taskset", ["-a", "-c", "-p", cores, String(process.pid)], { stdio: "ignore" });
}

/** Usage of the two cores since the meter was started, as shares of one core from 0 to 1. */
export interface Usage {
  seconds: number;
  client: number;
  server: number;
  /** The largest share of either core that other processes used, including the host's other guests. */
  others: number;
}

/** Starts measuring, and returns a function that reports the usage so far. */
export function meter(serverGroup: number): () => Usage {
  const before = snapshot(serverGroup);
  return () => {
    const after = snapshot(serverGroup);
    const seconds = (after.at - before.at) / 1000;
    const share = (take: (moment: Snapshot) => number): number => (take(after) - take(before)) / seconds;
    const client = share((moment) => moment.client);
    const server = share((moment) => moment.server);
    const others = Math.max(0, share((moment) => moment.serverCore) - server, share((moment) => moment.clientCore) - client);
    return { seconds, client, server, others: canPin ? others : 0 };
  };
}

interface Snapshot {
  at: number;
  client: number;
  server: number;
  serverCore: number;
  clientCore: number;
}

/** All values in seconds, except `at` in ms. */
function snapshot(serverGroup: number): Snapshot {
  const { user, system } = process.cpuUsage();
  const client = (user + system) / 1e6;
  const [serverCore, clientCore] = canPin ? [coreSeconds(SERVER_CORE), coreSeconds(CLIENT_CORE)] : [0, 0];
  return { at: performance.now(), client, server: groupSeconds(serverGroup), serverCore, clientCore };
}

/** Seconds for which a core wasn't idle, including steal, from /proc/stat. */
function coreSeconds(core: number): number {
  const line =
    readFileSync("/proc/stat", "utf8")
      .split("\n")
      .find((text) => text.startsWith(`cpu${core} `)) ?? "";
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND;
}

/** CPU seconds of all processes of a group; 0 without /proc. */
export function groupSeconds(group: number): number {
  if (platform() !== "linux") return 0;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + secondsOf(pid, group), 0);
}

function secondsOf(pid: string, group: number): number {
  try {
    // The command may contain spaces; the fields after its closing bracket don't.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    return Number(fields[2]) === group ? (user + system) / TICKS_PER_SECOND : 0;
  } catch {
    return 0;
  }
}

/** The machine in one line. */
export function describeMachine(): string {
  const [core] = cpus();
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const pinned = canPin ? `server on core ${SERVER_CORE}, client on core ${CLIENT_CORE}` : "processes not pinned to cores";
  return `${core?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, ${memory} GB, ${platform()} ${release()}; ${pinned}`;
}

export function load(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(" ");
}
