import sharp from "sharp";
import { lettering } from "./lettering.ts";
import { CAMERA_REACH, GOAL_X, HEIGHT, MIDDLE_Y, PITCH, project, scaleOfRow, STAND_ROW, WIDTH } from "./geometry.ts";
import type { Side } from "./story.ts";
import { randomNumbers } from "./random.ts";

/** Width of the picture that the camera sees parts of. */
export const PANORAMA_WIDTH = WIDTH + 2 * Math.ceil(CAMERA_REACH * scaleOfRow(HEIGHT)) + 8;
const OFFSET = (PANORAMA_WIDTH - WIDTH) / 2;

const GRASS = ["#1f8a4c", "#1b7f45"];
const APRON = "#166b3a";
const LINE = "#e9f5ec";
/** Seats from the upper row down: the away supporters' side, then the home side. */
const CROWD = { home: ["#4a3fd0", "#5a4af0", "#dcdaff"], away: ["#2b2e4a", "#3a3f63", "#d9661f"] };
const ROOF = 34;
const BOARDS = { top: 194, height: STAND_ROW - 194 };

/** The stadium without players as RGB, as a camera at the middle would see it. `raised`: whose supporters hold up their cards. */
export async function panorama(raised: Side | null): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${PANORAMA_WIDTH}" height="${HEIGHT}">
    <rect width="100%" height="100%" fill="${APRON}"/>
    ${stand(raised)}${boards()}${grass()}${markings()}${goal(-1)}${goal(1)}
  </svg>`;
  return await sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
}

function stand(raised: Side | null): string {
  const random = randomNumbers(7);
  const rows = 9;
  const depth = (BOARDS.top - ROOF) / rows;
  const seats: string[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < PANORAMA_WIDTH / 16; column++) {
      const x = column * 16 + (row % 2) * 5;
      const aisle = (column + 3) % 15 === 0;
      const supporters = x < PANORAMA_WIDTH * 0.58 ? "home" : "away";
      const palette = CROWD[supporters];
      const chance = random();
      if (aisle || chance < 0.06) continue;
      const card = raised === supporters && random() < 0.8;
      const colour = palette[card ? ((row + column) % 2 === 0 ? 2 : 1) : chance < 0.55 ? 0 : 1] ?? "";
      const height = card ? 12 : 9;
      seats.push(
        `<rect x="${x + 2}" y="${(ROOF + row * depth + depth - height - 2).toFixed(1)}" width="11" height="${height}" rx="2.5" fill="${colour}"/>`,
      );
    }
  }
  return `<rect width="100%" height="${STAND_ROW}" fill="#191637"/>${seats.join("")}
    <rect width="100%" height="${ROOF - 8}" fill="#0e0c22"/><rect y="${ROOF - 8}" width="100%" height="4" fill="#4a3fd0"/>`;
}

function boards(): string {
  const names = ["TIFO", "HARBOUR CITY", "OLD DOCK", "RAISE THE BANNER"];
  const width = 300;
  const panels = Array.from({ length: Math.ceil(PANORAMA_WIDTH / width) }, (_, index) => {
    const x = index * width;
    const name = names[index % names.length] ?? "";
    const [fill, colour] = index % 2 === 0 ? ["#f4f3ff", "#4a3fd0"] : ["#4a3fd0", "#ffffff"];
    return `<rect x="${x}" y="${BOARDS.top}" width="${width - 3}" height="${BOARDS.height - 3}" fill="${fill}"/>
      ${lettering(name, { x: x + width / 2, y: BOARDS.top + 8, height: 13, colour, middle: true })}`;
  });
  return `<rect y="${BOARDS.top}" width="100%" height="${BOARDS.height}" fill="#0e0c22"/>${panels.join("")}`;
}

type Point = [x: number, y: number];

function path(points: Point[]): string {
  return points
    .map(([x, y], index) => {
      const { column, row } = project({ x, y }, 0);
      return `${index === 0 ? "M" : "L"}${(column + OFFSET).toFixed(2)} ${row.toFixed(2)}`;
    })
    .join("");
}

function grass(): string {
  const stripe = PITCH.length / 18;
  return Array.from({ length: 26 }, (_, index) => {
    const left = -GOAL_X + (index - 4) * stripe;
    const corners: Point[] = [
      [left, -2.5],
      [left + stripe, -2.5],
      [left + stripe, 72],
      [left, 72],
    ];
    return `<path d="${path(corners)}Z" fill="${GRASS[index % 2] ?? ""}"/>`;
  }).join("");
}

function markings(): string {
  const line = (points: Point[], close = "") => `<path d="${path(points)}${close}"/>`;
  const box = (side: number, depth: number, width: number) =>
    line([
      [side * GOAL_X, MIDDLE_Y - width / 2],
      [side * (GOAL_X - depth), MIDDLE_Y - width / 2],
      [side * (GOAL_X - depth), MIDDLE_Y + width / 2],
      [side * GOAL_X, MIDDLE_Y + width / 2],
    ]);
  const arc = (x: number, from: number, to: number, radius = 9.15, y = MIDDLE_Y) =>
    line(
      Array.from({ length: 49 }, (_, step): Point => {
        const angle = from + ((to - from) * step) / 48;
        return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      }),
    );
  const spot = (x: number) => {
    const { column, row } = project({ x, y: MIDDLE_Y }, 0);
    return `<ellipse cx="${column + OFFSET}" cy="${row}" rx="5" ry="2.4" fill="${LINE}" stroke="none"/>`;
  };
  const ends = [-1, 1].map((side) => {
    const spotX = side * (GOAL_X - 11);
    const facing = side === 1 ? Math.PI : 0;
    return box(side, 16.5, 40.3) + box(side, 5.5, 18.3) + spot(spotX) + arc(spotX, facing - 0.92, facing + 0.92);
  });
  return `<g fill="none" stroke="${LINE}" stroke-opacity="0.88" stroke-width="2.6" stroke-linejoin="round">
    ${line(
      [
        [-GOAL_X, 0],
        [GOAL_X, 0],
        [GOAL_X, PITCH.width],
        [-GOAL_X, PITCH.width],
      ],
      "Z",
    )}
    ${line([
      [0, 0],
      [0, PITCH.width],
    ])}${arc(0, 0, 2 * Math.PI)}${spot(0)}${ends.join("")}
  </g>`;
}

/** A goal with its net, seen from the side. */
function goal(side: number): string {
  const at = (x: number, y: number, z: number) => {
    const { column, row } = project({ x, y, z }, 0);
    return `${(column + OFFSET).toFixed(1)} ${row.toFixed(1)}`;
  };
  const [near, far, front, back, high] = [MIDDLE_Y + 3.66, MIDDLE_Y - 3.66, side * GOAL_X, side * (GOAL_X + 2.2), 2.6];
  const net = `M${at(front, far, high)}L${at(back, far, 1.6)}L${at(back, far, 0)}L${at(back, near, 0)}L${at(back, near, 1.6)}L${at(front, near, high)}Z`;
  const strands = Array.from({ length: 6 }, (_, index) => {
    const y = far + ((index + 0.5) * (near - far)) / 6;
    return `M${at(front, y, high)}L${at(back, y, 1.6)}L${at(back, y, 0)}`;
  });
  return `<path d="${net}" fill="#ffffff" fill-opacity="0.2"/>
    <path d="${strands.join("")}M${at(back, far, 1.6)}L${at(back, near, 1.6)}M${at(back, far, 0.8)}L${at(back, near, 0.8)}" fill="none" stroke="#ffffff" stroke-opacity="0.45" stroke-width="1.4"/>
    <path d="M${at(front, far, 0)}L${at(front, far, high)}L${at(front, near, high)}L${at(front, near, 0)}" fill="none" stroke="#ffffff" stroke-width="4.5" stroke-linejoin="round" stroke-linecap="round"/>`;
}
