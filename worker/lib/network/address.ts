import ipaddr from "ipaddr.js";

type Address = ReturnType<typeof ipaddr.parse>;

/** Global unicast. The rest of IPv6 is loopback, private, link-local or multicast, embeds IPv4 addresses, or isn't assigned. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether an IPv4 or IPv6 address belongs to the public internet; false for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_V6);
}

/** What counts as one caller: an IPv4 address or an IPv6 /64, because a /64 usually belongs to one subscriber. */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return address;
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/** Also undefined for IPv4 addresses that aren't four decimal parts, and for IPv6 addresses with a zone. */
function parse(address: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return !address.includes("%") && ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address) : undefined;
}
