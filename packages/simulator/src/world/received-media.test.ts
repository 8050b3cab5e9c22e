import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { mp4Bytes, pngBytes } from "#src/testing.ts";
import { receive } from "#src/world/received-media.ts";

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const jpegBytes = Buffer.from("ffd8ffe000044a46ffc0000b080102030401011100ffd9", "hex");

test("receive() detects the type and size of an uploaded file from its bytes and hashes the whole file", () => {
  const gifBytes = Buffer.from("GIF89a\x20\x03\x58\x02rest", "latin1");
  expect([
    receive([pngBytes()]),
    receive([jpegBytes]),
    receive([gifBytes]),
    receive([mp4Bytes().subarray(0, 300), mp4Bytes().subarray(300)]),
    receive([Buffer.from("\0\0\0\x14ftypqt  ", "latin1")])?.contentType,
    receive([Buffer.from("1a45dfa39f4286810142f7", "hex")])?.contentType,
  ]).toEqual([
    {
      kind: "image",
      contentType: "image/png",
      width: 1,
      height: 1,
      bytes: pngBytes().length,
      sha256: sha256(pngBytes()),
    },
    {
      kind: "image",
      contentType: "image/jpeg",
      width: 0x0304,
      height: 0x0102,
      bytes: jpegBytes.length,
      sha256: sha256(jpegBytes),
    },
    {
      kind: "gif",
      contentType: "image/gif",
      width: 800,
      height: 600,
      bytes: gifBytes.length,
      sha256: sha256(gifBytes),
    },
    { kind: "video", contentType: "video/mp4", bytes: 1000, sha256: sha256(mp4Bytes()) },
    "video/quicktime",
    "video/webm",
  ]);
});

test("receive() detects a TIFF of either byte order, and a BMP with its size", () => {
  const bmpBytes = Buffer.alloc(58);
  bmpBytes.write("BM", "latin1");
  bmpBytes.writeInt32LE(20, 18);
  bmpBytes.writeInt32LE(-10, 22);
  expect([
    receive([Buffer.from("II*\0\x08\0\0\0", "latin1")]),
    receive([Buffer.from("MM\0*\0\0\0\x08", "latin1")]),
    receive([bmpBytes]),
  ]).toMatchObject([
    { kind: "image", contentType: "image/tiff", bytes: 8 },
    { kind: "image", contentType: "image/tiff", bytes: 8 },
    { kind: "image", contentType: "image/bmp", width: 20, height: 10 },
  ]);
});

test("receive() returns undefined for an uploaded file that is neither an image nor a video", () => {
  for (const text of ["", "<svg/>", "\xff\xd8", "RIFF1234WAVE"]) {
    expect(receive([Buffer.from(text, "latin1")])).toBeUndefined();
  }
});

test("receive() detects the type of a truncated image but not its width and height", () => {
  for (let length = 3; length < jpegBytes.length; length += 1) {
    expect(receive([jpegBytes.subarray(0, length)])?.contentType).toBe("image/jpeg");
  }
  expect(receive([pngBytes().subarray(0, 10)])).toMatchObject({ contentType: "image/png" });
});
