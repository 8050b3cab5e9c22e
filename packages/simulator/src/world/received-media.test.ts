import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { webpBytes } from "#src/testing-images.ts";
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
      frames: 0,
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
  for (const text of ["", "<svg/>", "\xff\xd8", "RIFF1234WAVE"])
    expect(receive([Buffer.from(text, "latin1")])).toBeUndefined();
});

test("receive() detects the type of a truncated image but not its width and height", () => {
  for (let length = 3; length < jpegBytes.length; length += 1)
    expect(receive([jpegBytes.subarray(0, length)])?.contentType).toBe("image/jpeg");
  expect(receive([pngBytes().subarray(0, 10)])).toMatchObject({ contentType: "image/png" });
});

/** Images of 20 x 10 pixels that the library libvips has encoded. */
const ENCODED: readonly (readonly [string, string, string, number])[] = [
  [
    "a lossy WebP",
    "image/webp",
    "UklGRj4AAABXRUJQVlA4IDIAAADQAgCdASoUAAoAP3Ggxli0q6ejsAgCkC4JQBUehaSAAP7kAWwUpDf7U/Kz3fe34VAAAA==",
    1,
  ],
  ["a lossless WebP", "image/webp", "UklGRh4AAABXRUJQVlA4TBEAAAAvE0ACAAdQhSJXof+BiOh/AAA=", 1],
  [
    "a WebP with transparency",
    "image/webp",
    "UklGRmIAAABXRUJQVlA4WAoAAAAQAAAAEwAACQAAQUxQSAoAAAABB1DAiAhERP8DVlA4IDIAAADQAgCdASoUAAoAP3Ggxli0q6ejsAgCkC4JQBUehaSAAP7kAWwUpDf7U/Kz3fe34VAAAA==",
    1,
  ],
  [
    "an animated WebP",
    "image/webp",
    "UklGRlwCAABXRUJQVlA4WAoAAAASAAAAEwAACQAAQU5JTQYAAAD/////AQBBTk1GuAAAAAAAAAAAABMAAAkAAGQAAAJBTFBIGQAAAAUXIBZM8TmBiohYIMi2kVzvz3OCiP5HsCsAVlA4IH4AAABwAwCdASoUAAoAP83c52Y/t7EnMAgD8DmJZz0JwlVECqei6kAA9ZZwcL+4A/YtmQ++kSrku5MzSaF/BzcU1mdrX499Z3+bGgxEm25Q3/lP3bn7/G5ZZC3h255y83lsxb0FG4tv+eEqNqV34FSd9QEpO+oCW8jl6u7qTAzAAABBTk1GugAAAAAAAAAAABMAAAkAAGQAAAJBTFBIGwAAAAUXIBZMJHbmb5JjREQGQbZNd3/yE0T0PwZdAQBWUDggfgAAAPADAJ0BKhQACgA/zdznZj+3sScwCAPwOYlnPQc9KwM8ABcgOwtQVsAA9WRzeQnJfCQ88OCzvtvAxWadZ+H68ICBlSWXtA3HdjGVOFTfn4BY/x94S1YLk5+faf5T7hRFffdsquljQFH2fv03Wl/16myj2v6/VQmYbh81tAAAAEFOTUauAAAAAAAAAAAAEwAACQAAZAAAAkFMUEgaAAAABRcgFkwkdqafc0REBkG2TXd/8hNE9D8GXQFWUDggdAAAADADAJ0BKhQACgAvnebzeay/v7+fgZxLOeg4+kAQHxEUqAAAzKY4T1AOpArphJLKRvGkAhAe+BPQM4LQVvZ3xSCrcQb/79x7D+IHgKfGYNLGVjPHGtA95X2t/Gi1QDUFhQJdlexXY+U/WP/m9esiBTg0ToQA",
    3,
  ],
  [
    "a still GIF",
    "image/gif",
    "R0lGODlhFAAKAIAAAExpccgKCiH5BAUAAAAALAAAAAAUAAoAAAIMjI+py+0Po5y02usKADs=",
    1,
  ],
  [
    "an animated GIF",
    "image/gif",
    "R0lGODlhFAAKAIAAAExpcaqxuCH5BAkAAAAALAAAAAAUAAoAAAIihBGZhxrcFnOQTmvcO/qq+nkbF5JlJGUYOqqp26Lg2ZlBAQAh+QQJAAAAACwAAAAAFAAKAAACIAwOoYq31l5Laz7oJLpR79oxIZaBpXiS3GiZZ+uuaVgAACH5BAUAAAAALAAAAAAUAAoAAAIgTIBolroN1mlyupcqlZBv9lkXOIpa5qHk2GHqepahGBUAOw==",
    3,
  ],
];

test.each(ENCODED)(
  "receive() reads the size and the number of frames of %s",
  (_name, contentType, base64, frames) => {
    const found = receive([Buffer.from(base64, "base64")]);
    expect(found).toMatchObject({ contentType, width: 20, height: 10, frames });
  },
);

test("receive() reads the size of the largest possible WebP images, whose sides are stored in 14 or 24 bits", () => {
  const lossless = Buffer.from(ENCODED[1]?.[2] ?? "", "base64");
  lossless.writeUInt32LE(0x0fff_ffff, 21);
  expect(receive([lossless])).toMatchObject({ width: 16_384, height: 16_384 });
  const [width, height] = [16_777_216, 255];
  expect(receive([webpBytes({ width, height })])).toMatchObject({ width, height, frames: 1 });
});

test("receive() detects the type of a truncated WebP or GIF", () => {
  for (const [name, contentType, base64] of ENCODED) {
    const bytes = Buffer.from(base64, "base64");
    for (let length = 16; length < bytes.length; length += 1) {
      const found = receive([bytes.subarray(0, length)]);
      expect(found?.contentType, `${name} of ${length} bytes`).toBe(contentType);
    }
  }
});

test("receive() distinguishes HEIC and AVIF pictures from MP4 videos, which begin with the same box", () => {
  const found = ["heic", "mif1", "avif", "isom"].map(
    (brand) => receive([Buffer.from(`\0\0\0\x18ftyp${brand}`, "latin1")])?.contentType,
  );
  expect(found).toEqual(["image/heic", "image/heif", "image/avif", "video/mp4"]);
});

test("receive() detects the type and size of an image that is too large to be stored for readers", () => {
  const large = Buffer.concat([webpBytes({ width: 30, height: 20 }), Buffer.alloc(64_000_000)]);
  expect(receive([large])).toMatchObject({ width: 30, height: 20, bytes: large.length });
});
