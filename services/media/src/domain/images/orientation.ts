/** Maps `(x, y)` to `(a x + b y, c x + d y)`; y grows downwards. */
export type Turn = readonly [a: number, b: number, c: number, d: number];

export const MIRROR_HORIZONTALLY: Turn = [-1, 0, 0, 1];
export const MIRROR_VERTICALLY: Turn = [1, 0, 0, -1];
export const ROTATE_LEFT: Turn = [0, 1, -1, 0];

/**
 * What makes a stored picture upright, for the EXIF orientations 1 to 8 (CIPA DC-008, section
 * 4.6.4).
 */
const ORIENTATIONS: readonly Turn[] = [
  [1, 0, 0, 1],
  [-1, 0, 0, 1],
  [-1, 0, 0, -1],
  [1, 0, 0, -1],
  [0, 1, 1, 0],
  [0, -1, 1, 0],
  [0, -1, -1, 0],
  [0, 1, -1, 0],
];

/** The EXIF orientation of a picture that these turns, in this order, make upright. */
export function toOrientation(turns: readonly Turn[]): number {
  const whole = turns.reduce<Turn>(
    ([a, b, c, d], [e, f, g, h]) => [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d],
    [1, 0, 0, 1],
  );
  return 1 + ORIENTATIONS.findIndex((one) => one.every((value, index) => value === whole[index]));
}
