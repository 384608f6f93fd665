// Colors of values, for light and dark: 256 steps from the surface to the accent, and from one accent to the other.
const LIGHT = { zero: [255, 255, 255], one: [16, 68, 140], minus: [176, 58, 10] };
const DARK = { zero: [24, 29, 36], one: [134, 190, 250], minus: [250, 160, 100] };

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function mixed(from: number[], to: number[], t: number): number[] {
  return from.map((value, i) => value + (to[i] - value) * t);
}

/** Return the color (red, green, blue) of a value from 0 to 1, or from -1 to 1. */
export function colorOf(value: number, dark = isDark()): number[] {
  const { zero, one, minus } = dark ? DARK : LIGHT;
  const size = Math.min(1, Math.abs(value));
  return mixed(zero, value < 0 ? minus : one, Math.sqrt(size));
}

export function css(value: number, dark = isDark()): string {
  return `rgb(${colorOf(value, dark).map(Math.round).join(" ")})`;
}

/** Return the color of text on top of a value's color. */
export function textOn(value: number, dark = isDark()): string {
  const [r, g, b] = colorOf(value, dark).map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return luminance + 0.05 > Math.sqrt(1.05 * 0.05) ? "#000000" : "#ffffff"; // whichever has more contrast
}

/** Return a picture of rows × columns numbers as a data address, one pixel each. */
export function picture(values: ArrayLike<number>, rows: number, columns: number, scale = 1, dark = isDark()): string {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const table = lookup(dark);
  for (let i = 0; i < rows * columns; i++) {
    const value = Math.max(-1, Math.min(1, values[i] / scale || 0));
    pixels[i] = table[(255 * (value + 1) + 0.5) | 0];
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const tables = new Map<boolean, Uint32Array>();
function lookup(dark: boolean): Uint32Array {
  const known = tables.get(dark);
  if (known) return known;
  const bytes = new Uint8ClampedArray(4 * 511);
  for (let i = 0; i < 511; i++) bytes.set([...colorOf(i / 255 - 1, dark), 255], 4 * i);
  const table = new Uint32Array(bytes.buffer);
  tables.set(dark, table);
  return table;
}

/** Colors of several lines, told apart with any color vision (Okabe and Ito), as light or dark asks. */
export const LINES = [
  "light-dark(#0072b2, #56b4e9)", "light-dark(#b84a00, #f0a060)", "light-dark(#00785a, #4cc9a4)",
  "light-dark(#a3467f, #e69ac8)", "light-dark(#7a6400, #e8d44d)", "light-dark(#444444, #cccccc)",
];
