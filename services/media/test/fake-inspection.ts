import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { InspectFile } from "#src/domain/inspected-media.ts";

export const LIMITS = { maxImageBytes: 1000, maxVideoBytes: 5000 };

/** An inspection for tests that accepts every file that starts with `PNG`. */
export const inspectFake: InspectFile = async (path) => {
  const bytes = await readFile(path);
  if (bytes.subarray(0, 3).toString() !== "PNG")
    return {
      kind: "rejected",
      violation: { code: "media_type_unsupported", message: "not a PNG" },
    };
  return {
    kind: "accepted",
    media: {
      kind: "image",
      contentType: "image/png",
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      width: 2,
      height: 1,
      durationMs: null,
      frames: 1,
      delivery: { kind: "same" },
    },
  };
};
