import sharp from "sharp";
import type { Player } from "./players.ts";

/** A picture with transparency, as RGBA, and where its feet are. */
export interface Sprite {
  pixels: Buffer;
  width: number;
  height: number;
}

interface Kit {
  shirt: string;
  trim: string;
  shorts: string;
  socks: string;
}

const KITS: Record<Player["kit"], Kit> = {
  home: { shirt: "#f6f5ff", trim: "#5a4af0", shorts: "#5a4af0", socks: "#f6f5ff" },
  away: { shirt: "#ff8a3d", trim: "#23233a", shorts: "#23233a", socks: "#ff8a3d" },
  homeKeeper: { shirt: "#ff5d73", trim: "#b32d43", shorts: "#b32d43", socks: "#ff5d73" },
  awayKeeper: { shirt: "#2fd0e8", trim: "#12788a", shorts: "#12788a", socks: "#2fd0e8" },
  referee: { shirt: "#16162a", trim: "#5b5b78", shorts: "#16162a", socks: "#16162a" },
};
const SKIN = ["#f2c9a5", "#c98d5e", "#8a5734", "#e8b48c"];
const HAIR = ["#2b1b12", "#5b3a1e", "#15100c", "#c49a4a"];

/** Phases of a step. */
export const PHASES = 8;
const CELEBRATION = -1;
/** Sprites are drawn in steps of so many pixels per metre. */
const SCALE_STEP = 1;
/** People are drawn larger than they are, so that phones show them. */
const PERSON_HEIGHT = 2.35;

const sprites = new Map<string, Promise<Sprite>>();

/** The picture of a player at so many pixels per metre. */
export function spriteOf(player: Player, scale: number): Promise<Sprite> {
  const pace = Math.hypot(player.velocity.x, player.velocity.y);
  const phase = player.celebrating
    ? CELEBRATION - (Math.floor(player.steps * 4 + player.look) % 2)
    : pace < 0.7
      ? PHASES
      : Math.floor(player.steps * PHASES) % PHASES;
  const size = Math.round(scale / SCALE_STEP) * SCALE_STEP;
  const key = [player.kit, player.look, phase, player.facing, size].join();
  let sprite = sprites.get(key);
  if (!sprite) sprites.set(key, (sprite = draw(player.kit, player.look, phase, player.facing, size)));
  return sprite;
}

async function draw(kit: Player["kit"], look: number, phase: number, facing: number, scale: number): Promise<Sprite> {
  const height = Math.round(PERSON_HEIGHT * scale);
  const width = Math.round(height * 0.8);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 80 100">
    <g transform="translate(40 0) scale(${facing} 1) translate(-40 0)" stroke-linecap="round" stroke-linejoin="round" fill="none">${figure(KITS[kit], look, phase)}</g>
  </svg>`;
  const { data, info } = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
}

/** A person who faces right, on a grid of 80 by 100, with the feet at the lower edge. */
function figure(kit: Kit, look: number, phase: number): string {
  const skin = SKIN[look % SKIN.length] ?? "";
  const hair = HAIR[(look >> 1) % HAIR.length] ?? "";
  const running = phase >= 0 && phase < PHASES;
  const swing = running ? Math.sin((phase / PHASES) * 2 * Math.PI) : 0;
  const lean = running ? 3 : 0;
  const legs = [leg(-swing, running, kit, true), leg(swing, running, kit, false)];
  const arms =
    phase < 0 ? raisedArms(skin, kit, phase === CELEBRATION ? 0 : 5) : [arm(swing, running, skin, kit), arm(-swing, running, skin, kit)];
  const body = `<g transform="translate(${lean} 0)">
    <rect x="28" y="27" width="24" height="33" rx="8" fill="${kit.shirt}"/>
    <path d="M31 57H49L52 68H41L40 64L39 68H28Z" fill="${kit.shorts}" stroke="${kit.shorts}" stroke-width="3"/>
    <path d="M33 30V55" stroke="${kit.trim}" stroke-width="4"/>
    <rect x="37" y="20" width="7" height="9" fill="${skin}"/>
    <circle cx="41" cy="14" r="9.5" fill="${skin}"/>
    <path d="M31 14A10 10 0 0 1 49 9Q41 9 38 13L34 19Z" fill="${hair}"/></g>`;
  return `${legs[0]}${arms[0] ?? ""}${body}${legs[1]}${arms[1] ?? ""}`;
}

function leg(swing: number, running: boolean, kit: Kit, behind: boolean): string {
  const hip = behind ? 36 : 44;
  const knee = { x: hip + swing * 11 + (running ? 4 : 0), y: 77 };
  const lift = running ? Math.max(0, -swing) * 12 : 0;
  const foot = { x: hip + swing * 20 - (running ? Math.max(0, -swing) * 4 : 0), y: 95 - lift };
  return `<path d="M${hip} 64L${knee.x.toFixed(1)} ${knee.y}" stroke="${kit.shorts}" stroke-width="10"/>
    <path d="M${knee.x.toFixed(1)} ${knee.y}L${foot.x.toFixed(1)} ${foot.y.toFixed(1)}" stroke="${kit.socks}" stroke-width="8"/>
    <path d="M${foot.x.toFixed(1)} ${foot.y.toFixed(1)}h6" stroke="#101018" stroke-width="7"/>`;
}

function arm(swing: number, running: boolean, skin: string, kit: Kit): string {
  const shoulder = running ? 43 : swing === 0 ? 41 : 40;
  const elbow = { x: shoulder + swing * 13 - 3, y: 45 };
  const hand = { x: elbow.x + 6 + swing * 4, y: running ? 50 : 58 };
  return `<path d="M${shoulder} 32L${elbow.x.toFixed(1)} ${elbow.y}" stroke="${kit.trim}" stroke-width="7.5"/>
    <path d="M${elbow.x.toFixed(1)} ${elbow.y}L${hand.x.toFixed(1)} ${hand.y}" stroke="${skin}" stroke-width="6"/>`;
}

function raisedArms(skin: string, kit: Kit, higher: number): string[] {
  return [-1, 1].map((side) => {
    const elbow = `${40 + side * 17} ${24 - higher}`;
    return `<path d="M${40 + side * 9} 33L${elbow}" stroke="${kit.trim}" stroke-width="7.5"/><path d="M${elbow}L${40 + side * 21} ${8 - higher + 3}" stroke="${skin}" stroke-width="6"/>`;
  });
}
