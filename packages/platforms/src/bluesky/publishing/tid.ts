const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const LENGTH = 13;

/**
 * 53 bits of microseconds and 10 bits of clock id as 13 characters that sort by time (AT Protocol,
 * record keys). Chosen before the first call, so that writing the record is idempotent.
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

/** The current time for a record key that is not a TID. */
export function timeOfTid(tid: string): Date {
  const digits = Array.from(tid, (character) => ALPHABET.indexOf(character));
  if (digits.length !== LENGTH || digits.includes(-1)) return new Date();
  const value = digits.reduce((sum, digit) => (sum << 5n) | BigInt(digit), 0n);
  return new Date(Number((value >> 10n) / 1000n));
}
