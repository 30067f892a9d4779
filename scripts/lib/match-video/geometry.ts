// The camera of the match video: on the main stand, above the halfway line, moving along the touchline.

export const WIDTH = 1280;
export const HEIGHT = 720;
export const FRAMES_PER_SECOND = 25;
export const SECONDS = 180;

/** Metres. x runs along the touchline from the middle, y from the far touchline to the near one. */
export const PITCH = { length: 105, width: 68 };
export const GOAL_X = PITCH.length / 2;
export const MIDDLE_Y = PITCH.width / 2;

/** Pixels per metre, and rows, of the far and of the near touchline. */
const FAR = { scale: 14, row: 236 };
const NEAR = { scale: 22.4, row: 694 };

/** How far from the middle the camera goes, so that it sees what happens behind a goal. */
export const CAMERA_REACH = 27;
/** The rows above show the stand, which stands upright. */
export const STAND_ROW = 226;

/** Pixels per metre at a distance from the far touchline. */
export function scaleAt(y: number): number {
  return 1 / (1 / FAR.scale + (y / PITCH.width) * (1 / NEAR.scale - 1 / FAR.scale));
}

export function rowAt(y: number): number {
  return FAR.row + ((NEAR.row - FAR.row) * (scaleAt(y) - FAR.scale)) / (NEAR.scale - FAR.scale);
}

/** Pixels per metre in a row of the picture. */
export function scaleOfRow(row: number): number {
  const ground = Math.max(row, STAND_ROW);
  return FAR.scale + ((ground - FAR.row) * (NEAR.scale - FAR.scale)) / (NEAR.row - FAR.row);
}

export interface Place {
  x: number;
  y: number;
  /** Metres above the ground. */
  z?: number;
}

/** Where a place is in the picture of a camera at `camera` metres from the middle. */
export function project({ x, y, z = 0 }: Place, camera: number): { column: number; row: number; scale: number } {
  const scale = scaleAt(y);
  return { column: WIDTH / 2 + (x - camera) * scale, row: rowAt(y) - z * scale, scale };
}
