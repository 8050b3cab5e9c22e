import { pixelFormatOf } from "./video-facts.ts";

/** Profiles of H.264 (ITU-T H.264, annex A) by their number. */
const PROFILES: ReadonlyMap<number, string> = new Map([
  [66, "baseline"],
  [77, "main"],
  [88, "extended"],
  [100, "high"],
  [110, "high 10"],
  [122, "high 4:2:2"],
  [244, "high 4:4:4"],
]);
/** Profiles whose parameter set states chroma format and bits. */
const DETAILED = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** Reads an `avcC` payload (ISO/IEC 14496-15, section 5.3.3). */
export function readAvcConfiguration(configuration: Buffer): {
  readonly profile: string | null;
  readonly pixelFormat: string | null;
} {
  const number = configuration[1] ?? 0;
  const profile = PROFILES.get(number) ?? null;
  if (!DETAILED.has(number)) return { profile, pixelFormat: profile && "yuv420p" };
  const count = (configuration[5] ?? 0) & 0x1f;
  // The set follows its length of two bytes; its first four bytes are header, profile, flags and
  // level.
  const set = configuration.subarray(8 + 4);
  return { profile, pixelFormat: count === 0 ? null : readFormat(set) };
}

function readFormat(set: Buffer): string | null {
  const bits = new BitReader(withoutEmulation(set));
  bits.exponentialGolomb();
  const chroma = bits.exponentialGolomb();
  if (chroma === 3) bits.bit();
  const depth = 8 + bits.exponentialGolomb();
  return bits.isBeyondEnd ? null : pixelFormatOf(chroma, depth);
}

/**
 * Removes the third byte of each 0, 0, 3, which keeps the data from containing a start code.
 * Sixteen bytes are enough.
 */
function withoutEmulation(bytes: Buffer): Buffer {
  const start = bytes.subarray(0, 16);
  return Buffer.from(
    start.filter((byte, at) => !(byte === 3 && start[at - 1] === 0 && start[at - 2] === 0)),
  );
}

class BitReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isBeyondEnd(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3] ?? 0;
    const value = (byte >> (7 - (this.#at & 7))) & 1;
    this.#at += 1;
    return value;
  }

  /** Reads an unsigned number in Exp-Golomb code (ITU-T H.264, section 9.1). */
  exponentialGolomb(): number {
    let zeros = 0;
    while (zeros < 31 && !this.isBeyondEnd && this.bit() === 0) zeros += 1;
    let value = 1;
    for (let left = zeros; left > 0; left -= 1) value = value * 2 + this.bit();
    return value - 1;
  }
}
