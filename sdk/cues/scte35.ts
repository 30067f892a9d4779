import { hexOf, Reader } from "./reader.ts";

/** A section has at most 4,093 bytes after its length. */
export const MAX_SECTION_BYTES = 4_096;
const MAX_DESCRIPTORS = 64;
const CLOCK = 90_000;
const CUEI = 0x43554549;

/** A segment of a programme: an advertisement, a chapter, the programme itself. */
export interface SpliceSegment {
  eventId: number;
  cancelled: boolean;
  /** The `segmentation_type_id`: 0x30 and 0x31 start and end a provider's advertisement, for example. Null if it is cancelled. */
  typeId: number | null;
  /** Seconds; null if it isn't known. */
  duration: number | null;
  /** Which kind of identifier `upid` is. */
  upidType: number;
  /** Hexadecimal. */
  upid: string;
  number: number;
  expected: number;
}

/** What a SCTE 35 section says. */
export interface Splice {
  command: "null" | "schedule" | "insert" | "time_signal" | "bandwidth_reservation" | "private" | "other";
  /** When it happens on the stream's clock, in seconds; null: immediately, or not at a time. */
  at: number | null;
  /** Of an insert; null for other commands. */
  eventId: number | null;
  cancelled: boolean;
  /** Whether the stream leaves the network's programme (true) or returns to it (false); null if it says neither. */
  out: boolean | null;
  /** Seconds, of an insert with a break; null if it isn't known. */
  duration: number | null;
  autoReturn: boolean;
  segments: SpliceSegment[];
}

const COMMANDS: Record<number, Splice["command"]> = {
  0: "null",
  4: "schedule",
  5: "insert",
  6: "time_signal",
  7: "bandwidth_reservation",
  255: "private",
};

/** Reads a `splice_info_section` (SCTE 35). Null if it isn't one, is encrypted or damaged: its checksum must match. */
export function parseSplice(section: Uint8Array): Splice | null {
  if (section.length > MAX_SECTION_BYTES || section.length < 17) return null;
  try {
    return readSection(section);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readSection(section: Uint8Array): Splice | null {
  const head = new Reader(section);
  if (head.bits(8) !== 0xfc) return null;
  head.skip(4);
  const length = head.bits(12) + 3;
  if (length > section.length || crcOf(section.subarray(0, length)) !== 0) return null;
  const reader = new Reader(section, 3, length - 4);
  if (reader.bits(8) !== 0) return null;
  const encrypted = reader.flag();
  reader.skip(6);
  const adjustment = reader.bits(33);
  reader.skip(8 + 12);
  const commandLength = reader.bits(12);
  const type = reader.bits(8);
  if (encrypted) return null;
  const splice: Splice = {
    command: COMMANDS[type] ?? "other",
    at: null,
    eventId: null,
    cancelled: false,
    out: null,
    duration: null,
    autoReturn: false,
    segments: [],
  };
  // Older encoders leave the length out; then only the command itself tells.
  const command = commandLength === 0xfff ? reader : reader.part(commandLength);
  if (type === 5) readInsert(command, splice, adjustment);
  else if (type === 6) splice.at = readTime(command, adjustment);
  else if (commandLength === 0xfff) return splice;
  readDescriptors(reader.part(reader.bits(16)), splice);
  return splice;
}

function readInsert(reader: Reader, splice: Splice, adjustment: number): void {
  splice.eventId = reader.bits(32);
  splice.cancelled = reader.flag();
  reader.skip(7);
  if (splice.cancelled) return;
  splice.out = reader.flag();
  const isProgram = reader.flag();
  const hasDuration = reader.flag();
  const immediate = reader.flag();
  reader.skip(4);
  if (isProgram && !immediate) splice.at = readTime(reader, adjustment);
  if (!isProgram) {
    for (let left = reader.bits(8); left > 0; left--) {
      reader.skip(8);
      if (!immediate) splice.at = readTime(reader, adjustment) ?? splice.at;
    }
  }
  if (hasDuration) {
    splice.autoReturn = reader.flag();
    reader.skip(6);
    splice.duration = reader.bits(33) / CLOCK;
  }
  // unique_program_id, avail_num and avails_expected.
  reader.skip(32);
}

function readTime(reader: Reader, adjustment: number): number | null {
  if (!reader.flag()) {
    reader.skip(7);
    return null;
  }
  reader.skip(6);
  return ((reader.bits(33) + adjustment) % 2 ** 33) / CLOCK;
}

function readDescriptors(reader: Reader, splice: Splice): void {
  for (let count = 0; reader.left >= 2 && count < MAX_DESCRIPTORS; count++) {
    const tag = reader.bits(8);
    const descriptor = reader.part(reader.bits(8));
    if (tag !== 2 || descriptor.left < 9 || descriptor.bits(32) !== CUEI) continue;
    splice.segments.push(readSegment(descriptor));
  }
}

function readSegment(reader: Reader): SpliceSegment {
  const eventId = reader.bits(32);
  const cancelled = reader.flag();
  reader.skip(7);
  const segment = { eventId, cancelled, typeId: null, duration: null, upidType: 0, upid: "", number: 0, expected: 0 };
  if (cancelled) return segment;
  const isProgram = reader.flag();
  const hasDuration = reader.flag();
  reader.skip(6);
  if (!isProgram) reader.skip(reader.bits(8) * 48);
  const duration = hasDuration ? reader.bits(40) / CLOCK : null;
  const upidType = reader.bits(8);
  const upid = hexOf(reader.bytes(reader.bits(8)));
  return { ...segment, duration, upidType, upid, typeId: reader.bits(8), number: reader.bits(8), expected: reader.bits(8) };
}

/** The checksum of MPEG-2 sections; 0 over a whole section with its own checksum. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
