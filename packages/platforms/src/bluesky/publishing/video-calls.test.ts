import { expect, test } from "vitest";
import { toBlob } from "./video-calls.ts";

const BLOB = { $type: "blob", ref: { $link: "bafkrei" }, mimeType: "image/png", size: 9 };

test("of the reference to an uploaded file only the fields of a Bluesky blob are kept, whatever else its server answers", () => {
  const ref = { ...BLOB.ref, more: "x".repeat(1000) };
  expect(toBlob({ blob: { ...BLOB, ref, padding: "x".repeat(1000) } })).toEqual(BLOB);
});

test.each([
  ["link", { ...BLOB, ref: { $link: "b".repeat(129) } }],
  ["media type", { ...BLOB, mimeType: "m".repeat(129) }],
])(
  "a reference to an uploaded file with a longer %s than Bluesky's is not taken",
  (_what, blob) => {
    expect(toBlob({ blob })).toBeUndefined();
  },
);
