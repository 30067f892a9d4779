// The number of a frame as black and white cells along the lower edge, which a test reads off the picture (docs: Video players).

/** Pixels of a picture 1280 wide; other sizes are in proportion. */
export const CELL = { width: 30, height: 9 };
const BITS = 13;

/**
 * The cells from the left: white, black, the frame's number as a Gray code (one cell changes from frame to frame), the parity of these
 * bits, black, white.
 */
export function cellsOf(frame: number): boolean[] {
  const gray = frame ^ (frame >> 1);
  const bits = Array.from({ length: BITS }, (_, index) => ((gray >> (BITS - 1 - index)) & 1) === 1);
  return [true, false, ...bits, bits.filter(Boolean).length % 2 === 1, false, true];
}
