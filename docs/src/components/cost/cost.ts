/** What is shown on one channel, and to how many. */
export interface Show {
  viewers: number;
  hours: number;
  /** Broadcasts that each viewer acknowledges. */
  broadcasts: number;
  /** Shows of this kind in a month. */
  shows: number;
}

/** What the platform bills a month of shows for. */
export interface Usage {
  requests: number;
  objectRequests: number;
  gigabyteSeconds: number;
  rowsWritten: number;
}

/** Cloudflare's prices in USD per million, and what the Workers Paid plan includes each month. */
export const PRICES: Record<keyof Usage, { usd: number; included: number; label: string }> = {
  requests: { usd: 0.3, included: 10_000_000, label: "Worker requests" },
  objectRequests: { usd: 0.15, included: 1_000_000, label: "Durable Object requests" },
  gigabyteSeconds: { usd: 12.5, included: 400_000, label: "Durable Object duration, GB-s" },
  rowsWritten: { usd: 1, included: 50_000_000, label: "Rows written" },
};

/** USD a month for the Workers Paid plan. */
export const PLAN = 5;

const RELAY_CAPACITY = 1500;
const PING_SECONDS = 20;
const MESSAGES_PER_REQUEST = 20;
const OBJECT_GIGABYTES = 0.125;

/** Every viewer connects once and stays, pings, and acknowledges each broadcast; relays are awake all the time. */
export function usageOf({ viewers, hours, broadcasts, shows }: Show): Usage {
  const seconds = hours * 3600;
  const messages = viewers * (seconds / PING_SECONDS + broadcasts);
  return {
    requests: shows * viewers,
    objectRequests: shows * (viewers + messages / MESSAGES_PER_REQUEST),
    gigabyteSeconds: shows * Math.ceil(viewers / RELAY_CAPACITY) * OBJECT_GIGABYTES * seconds,
    rowsWritten: shows * viewers,
  };
}

export interface Cost {
  lines: { label: string; amount: number; usd: number; billed: number }[];
  /** At list prices, without what the plan includes. */
  listPrice: number;
  /** What a month costs: the plan, and what exceeds it. */
  month: number;
}

export function costOf(show: Show): Cost {
  const usage = usageOf(show);
  const lines = [
    line("requests", usage.requests),
    line("objectRequests", usage.objectRequests),
    line("gigabyteSeconds", usage.gigabyteSeconds),
    line("rowsWritten", usage.rowsWritten),
  ];
  const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0);
  return { lines, listPrice: sum(lines.map(({ usd }) => usd)), month: PLAN + sum(lines.map(({ billed }) => billed)) };
}

function line(kind: keyof Usage, amount: number): Cost["lines"][number] {
  const { usd, included, label } = PRICES[kind];
  return { label, amount, usd: (amount / 1e6) * usd, billed: (Math.max(0, amount - included) / 1e6) * usd };
}
