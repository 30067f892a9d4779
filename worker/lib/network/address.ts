// Ranges of IPv4 that lead nowhere on the internet (IANA's special-purpose registry), and multicast.
const INSIDE: readonly (readonly [base: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Whether an IPv4 or IPv6 address is one of the public internet; false for what is no address. */
export function isPublicAddress(address: string): boolean {
  return address.includes(":") ? isPublicV6(address) : isPublicV4(address);
}

function isPublicV4(address: string): boolean {
  const value = toNumber(address);
  return value !== undefined && !INSIDE.some(([base, bits]) => value >>> (32 - bits) === (toNumber(base) ?? 0) >>> (32 - bits));
}

function toNumber(address: string): number | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return undefined;
  const octets = address.split(".").map(Number);
  return octets.every((octet) => octet < 256) ? octets.reduce((sum, octet) => sum * 256 + octet, 0) : undefined;
}

/** Global unicast is 2000::/3: loopback, private, link-local, multicast and all that carry an IPv4 address by itself lie outside. */
function isPublicV6(address: string): boolean {
  const [first = 0, second = 0] = groupsOf(address);
  if (first >>> 13 !== 1) return false;
  // 6to4 and, in 2001::/23, Teredo carry IPv4 addresses too; 2001:db8::/32 and 3fff::/20 are for documentation.
  const isSpecial = first === 0x2002 || (first === 0x2001 && (second < 0x200 || second === 0xdb8)) || (first === 0x3fff && second < 0x1000);
  return !isSpecial;
}

/** What counts as one caller: an IPv4 address, or the /64 of an IPv6 address, since whoever has one of those has them all. */
export function networkOf(address: string): string {
  const groups = groupsOf(address);
  if (groups.length === 0) return address;
  const [high = 0, low = 0] = groups.slice(6);
  // An IPv4 address written as IPv6.
  if (groups.slice(0, 6).join() === "0,0,0,0,0,65535") return [high >>> 8, high & 255, low >>> 8, low & 255].join(".");
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** The eight numbers of an IPv6 address, in whatever form it is written; none of what is no such address. */
function groupsOf(address: string): number[] {
  if (!address.includes(":") || !URL.canParse(`http://[${address}]/`)) return [];
  const [head = "", tail = ""] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const [left, right] = [head, tail].map((part) => (part === "" ? [] : part.split(":").map((group) => parseInt(group, 16))));
  if (!left || !right) return [];
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}
