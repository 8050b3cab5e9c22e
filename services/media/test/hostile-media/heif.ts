import { randomBytes } from "node:crypto";
import { ascii, box, u32 } from "@postrider/local/demo/sample-mp4";
import { heifFile, profile, rotation, sampleHeif } from "../sample-heif.ts";
import { hostile, type HostileFile } from "./hostile-file.ts";

const HIDDEN = Buffer.from("<script>alert(1)</script>");

/** Describes hostile HEIC files. */
export function hostileHeifs(): HostileFile[] {
  const file = sampleHeif();
  const single = heifFile("tile");
  return [
    ...hostile("image/heic", "rejected", {
      "HEIC that ends within its tiles": file.subarray(0, file.length - 5_000),
      "HEIC that ends within its boxes": file.subarray(0, 200),
      "HEIC with its first box only": file.subarray(0, 24),
      "HEIC of 10 gigapixels": sampleHeif({ width: 100_000, height: 100_000 }),
      "HEIC of 65 megapixels": sampleHeif({ columns: 18, rows: 14 }),
      "HEIC without width": sampleHeif({ width: 0 }),
      "HEIC whose tiles do not cover it": sampleHeif({ width: 4032, height: 3024 }),
      "HEIC whose tiles are random bytes": sampleHeif({ tile: randomBytes(20_000) }),
      "HEIC whose grid consists of itself": sampleHeif({ references: [1, 1] }),
      "HEIC whose grid names missing tiles": sampleHeif({ references: [7, 8] }),
      "HEIC with a box of 4 GB": patch(single, "meta", -4, 0xff_ff_ff_f0),
      "HEIC with an empty grid": sampleHeif({ columns: 0 }),
    }),
    ...hostile("image/heic", "either", {
      "HEIC with damaged tiles": damage(single),
      "HEIC with a colour profile of random bytes": sampleHeif({
        properties: [profile(randomBytes(3_000))],
      }),
      "HEIC with 200 rotations": sampleHeif({
        properties: Array.from({ length: 200 }, () => rotation(1)),
      }),
      "HEIC with a picture that is larger than its header says": patch(single, "ispe", 8, 64),
    }),
    ...hostile("image/heic", "accepted", {
      "HEIC with a hidden page in a box": Buffer.concat([single, box("free", HIDDEN)]),
      "HEIC with a hidden page behind the image": Buffer.concat([single, u32(0, 0), HIDDEN]),
      "HEIC with a position": Buffer.concat([single, box("uuid", ascii("+52.52+013.40/"))]),
    }),
  ];
}

/** Replaces the four bytes that begin `distance` bytes after the start of a box's name. */
function patch(file: Buffer, name: string, distance: number, value: number): Buffer {
  const copy = Buffer.from(file);
  copy.writeUInt32BE(value, file.indexOf(name) + distance);
  return copy;
}

/** Overwrites every hundredth byte of the compressed picture. */
function damage(file: Buffer): Buffer {
  const copy = Buffer.from(file);
  for (let at = file.indexOf("mdat") + 200; at < copy.length; at += 100) copy[at] = 0xa5;
  return copy;
}
