export { createCues, type CueOptions, type CuePosition, type Cues, type StreamCue } from "./cues.ts";
export type { DateRangeLike, EventMessage, MetadataSample, ParsedCue } from "./cues.ts";
export { type Id3Frame, parseId3 } from "./id3.ts";
export { parseSplice, type Splice, type SpliceSegment } from "./scte35.ts";
