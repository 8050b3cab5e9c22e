import { randomInt } from "node:crypto";

const QUALITIES = ["Amber", "Brisk", "Calm", "Dusty", "Early", "Gentle", "Merry", "Quiet", "Sunny"];
const THINGS = [
  "Anvil",
  "Bay",
  "Cedar",
  "Fern",
  "Heron",
  "Lake",
  "Maple",
  "Otter",
  "River",
  "Tide",
];

export interface InventedName {
  readonly words: readonly [string, string];
  readonly number: number;
  readonly displayName: string;
}

export function inventName(isTaken: (name: InventedName) => boolean): InventedName {
  for (;;) {
    const quality = QUALITIES[randomInt(QUALITIES.length)] ?? "Amber";
    const thing = THINGS[randomInt(THINGS.length)] ?? "Bay";
    const name: InventedName = {
      words: [quality.toLowerCase(), thing.toLowerCase()],
      number: randomInt(1, 100_000),
      displayName: `${quality} ${thing}`,
    };
    if (!isTaken(name)) return name;
  }
}
