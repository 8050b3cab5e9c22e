import sharp, { type Sharp } from "sharp";

export interface Picture {
  readonly width: number;
  readonly height: number;
}

/** Number of different values of the noise of a picture. */
const RANGE = 2_147_483_648;

/**
 * Creates a picture with areas, edges and a little noise, which differs in each corner. The same
 * size gives the same pixels.
 */
export function picture({ width, height }: Picture): Sharp {
  // The array rounds each value and limits it to 0 to 255.
  const data = new Uint8ClampedArray(width * height * 3);
  const columns = sinesOf(width);
  let seed = 1;
  for (let y = 0, at = 0; y < height; y += 1) {
    const v = y / height;
    const [bend, amplitude] = [4 * Math.sin(v * 9), 40 * Math.cos(v * 17)];
    const [sine, cosine] = [amplitude * Math.cos(bend), amplitude * Math.sin(bend)];
    for (let x = 0; x < width; x += 1, at += 3) {
      const u = x / width;
      // The remainder of a division by `RANGE`, without the slow operator %.
      const next = seed * 1_103_515_245 + 12_345;
      seed = next - Math.floor(next / RANGE) * RANGE;
      const noise = (seed / RANGE - 0.5) * 4;
      // The sine of the sum of two angles, of which one belongs to the column and the other to the
      // row.
      const wave = (columns[2 * x] ?? 0) * sine + (columns[2 * x + 1] ?? 0) * cosine;
      const isInside = (u - 0.6) ** 2 + (v - 0.4) ** 2 < 0.04;
      data[at] = 60 + 150 * u + wave + noise + (isInside ? 40 : 0);
      data[at + 1] = 40 + 130 * v + wave / 2 + noise;
      data[at + 2] = 180 - 120 * u * v - wave + noise - (isInside ? 80 : 0);
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** Returns the sine and the cosine of the angle of each column. */
function sinesOf(width: number): Float64Array {
  const sines = new Float64Array(2 * width);
  for (let x = 0; x < width; x += 1) {
    sines[2 * x] = Math.sin((x / width) * 24);
    sines[2 * x + 1] = Math.cos((x / width) * 24);
  }
  return sines;
}

/** Size of the windows of `similarity`, in pixels. */
const WINDOW = 8;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

/**
 * Returns the mean structural similarity of two pictures of the same size, in luminance over
 * windows of 8 × 8 pixels (Wang et al., 2004): 1 for equal pictures.
 */
export async function similarity(first: Buffer, second: Buffer): Promise<number> {
  const [a, b] = [await toGrey(first), await toGrey(second)];
  if (a.width !== b.width || a.height !== b.height)
    throw new Error(`${a.width} x ${a.height} is compared with ${b.width} x ${b.height}`);
  let sum = 0;
  let count = 0;
  for (let top = 0; top + WINDOW <= a.height; top += WINDOW)
    for (let left = 0; left + WINDOW <= a.width; left += WINDOW, count += 1)
      sum += compareWindow(a, b, left, top);
  return sum / count;
}

interface Grey extends Picture {
  readonly data: Buffer;
}

async function toGrey(file: Buffer): Promise<Grey> {
  const { data, info } = await sharp(file, { limitInputPixels: false })
    .flatten({ background: "white" })
    .toColourspace("srgb")
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

function compareWindow(a: Grey, b: Grey, left: number, top: number): number {
  let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
  for (let y = top; y < top + WINDOW; y += 1)
    for (let x = left; x < left + WINDOW; x += 1) {
      const [p, q] = [a.data[y * a.width + x] ?? 0, b.data[y * b.width + x] ?? 0];
      sumA += p;
      sumB += q;
      sumAA += p * p;
      sumBB += q * q;
      sumAB += p * q;
    }

  const n = WINDOW * WINDOW;
  const [meanA, meanB] = [sumA / n, sumB / n];
  const [varA, varB] = [sumAA / n - meanA ** 2, sumBB / n - meanB ** 2];
  const covariance = sumAB / n - meanA * meanB;
  return (
    ((2 * meanA * meanB + C1) * (2 * covariance + C2)) /
    ((meanA ** 2 + meanB ** 2 + C1) * (varA + varB + C2))
  );
}
