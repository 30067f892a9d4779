import { HEIGHT, WIDTH } from "./geometry.ts";
import type { Sprite } from "./sprites.ts";

type Colour = readonly [red: number, green: number, blue: number];

/** One frame as RGB, three bytes a pixel. */
export class Canvas {
  readonly pixels = Buffer.alloc(WIDTH * HEIGHT * 3);

  /** Puts a picture with transparency at a place; parts outside are cut off. */
  drawSprite({ pixels, width, height }: Sprite, left: number, top: number): void {
    const [x0, y0] = [Math.round(left), Math.round(top)];
    for (let y = Math.max(0, -y0); y < Math.min(height, HEIGHT - y0); y++) {
      for (let x = Math.max(0, -x0); x < Math.min(width, WIDTH - x0); x++) {
        const from = (y * width + x) * 4;
        const alpha = pixels[from + 3] ?? 0;
        if (alpha > 0) this.#mix(((y0 + y) * WIDTH + x0 + x) * 3, pixels, from, alpha / 255);
      }
    }
  }

  #mix(at: number, colour: ArrayLike<number>, from: number, alpha: number): void {
    for (let channel = 0; channel < 3; channel++) {
      const old = this.pixels[at + channel] ?? 0;
      this.pixels[at + channel] = old + ((colour[from + channel] ?? 0) - old) * alpha;
    }
  }

  /** An ellipse with smooth edges. */
  fillEllipse(column: number, row: number, radiusX: number, radiusY: number, colour: Colour, alpha = 1): void {
    for (let y = Math.max(0, Math.floor(row - radiusY - 1)); y <= Math.min(HEIGHT - 1, row + radiusY + 1); y++) {
      for (let x = Math.max(0, Math.floor(column - radiusX - 1)); x <= Math.min(WIDTH - 1, column + radiusX + 1); x++) {
        const distance = Math.hypot((x - column) / radiusX, (y - row) / radiusY);
        const cover = Math.max(0, Math.min(1, (1 - distance) * Math.min(radiusX, radiusY) + 0.5));
        if (cover > 0) this.#mix((y * WIDTH + x) * 3, colour, 0, cover * alpha);
      }
    }
  }

  fillRectangle(left: number, top: number, width: number, height: number, [red, green, blue]: Colour): void {
    for (let y = Math.max(0, top); y < Math.min(HEIGHT, top + height); y++) {
      for (let x = Math.max(0, left); x < Math.min(WIDTH, left + width); x++) {
        const at = (y * WIDTH + x) * 3;
        this.pixels[at] = red;
        this.pixels[at + 1] = green;
        this.pixels[at + 2] = blue;
      }
    }
  }
}
