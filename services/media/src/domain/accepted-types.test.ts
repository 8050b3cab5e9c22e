import { expect, test } from "vitest";
import { checkDeclared, foldContentType, kindOf } from "#src/domain/accepted-types.ts";

const limits = { maxImageBytes: 20, maxVideoBytes: 1000 };

test.each([
  ["image/jpeg", "image"],
  ["image/tiff", "image"],
  ["image/heic", "image"],
  ["image/heif", "image"],
  ["image/avif", undefined],
  ["video/quicktime", "video"],
  ["image/svg+xml", undefined],
  ["image/jpg", undefined],
  ["application/octet-stream", undefined],
  ["constructor", undefined],
])(
  "kindOf returns for the media type %s whether it is an image or a video (undefined if it is not accepted): %s",
  (contentType, kind) => {
    expect(kindOf(contentType)).toBe(kind);
  },
);

test("an image and a video have separate size limits, and a file of exactly the maximum size is accepted", () => {
  expect(checkDeclared({ contentType: "image/png", bytes: 20 }, limits)).toBeUndefined();
  expect(checkDeclared({ contentType: "video/mp4", bytes: 1000 }, limits)).toBeUndefined();
  expect(checkDeclared({ contentType: "image/png", bytes: 21 }, limits)).toEqual({
    code: "media_too_large",
    path: "/bytes",
    limit: 20,
    actual: 21,
  });
  expect(checkDeclared({ contentType: "video/mp4", bytes: 1001 }, limits)).toMatchObject({
    limit: 1000,
  });
  expect(checkDeclared({ contentType: "text/html", bytes: 1 }, limits)).toEqual({
    code: "media_type_unsupported",
    path: "/contentType",
  });
});

test("media types are compared without regard to case and surrounding spaces", () => {
  expect(foldContentType(" Image/PNG ")).toBe("image/png");
});
