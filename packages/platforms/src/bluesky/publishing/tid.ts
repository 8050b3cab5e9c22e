const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const LENGTH = 13;

/**
 * Creates a TID, a record key of Bluesky: 53 bits of microseconds and 10 bits of clock id as 13 characters that sort by
 * time (AT Protocol, record keys). The TID is chosen before the first call, so that writing the record is idempotent.
 */
export function createTid(now: Date, random: number): string {
  const clockId = BigInt(Math.floor(random * 1024));
  const microseconds =
    BigInt(now.getTime()) * 1000n + BigInt(Math.floor(random * 1_000_000) % 1000);
  let value = (microseconds << 10n) | clockId;
  let tid = "";
  for (let index = 0; index < LENGTH; index += 1) {
    tid = (ALPHABET[Number(value & 31n)] ?? "2") + tid;
    value >>= 5n;
  }
  return tid;
}

/** Returns the time that a TID contains; the current time for another record key. */
export function timeOfTid(tid: string): Date {
  let value = 0n;
  for (const character of tid) {
    const digit = ALPHABET.indexOf(character);
    if (digit === -1 || tid.length !== LENGTH) return new Date();
    value = (value << 5n) | BigInt(digit);
  }
  return new Date(Number((value >> 10n) / 1000n));
}
