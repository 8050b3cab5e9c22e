import { expect, test } from "vitest";
import { agreesWith, checkDeclared, foldContentType, kindOf } from "#src/domain/accepted-types.ts";

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
    found: "text/html",
    allowed: expect.arrayContaining([
      "image/jpeg",
      "video/mp4",
      "application/octet-stream",
    ]) as string[],
  });
});

test("media types are compared without regard to case and surrounding spaces", () => {
  expect(foldContentType(" Image/PNG ")).toBe("image/png");
});

test.each([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["Image/JPEG; charset=binary", "image/jpeg"],
  ["application/octet-stream; charset=binary", "application/octet-stream"],
  ["", "application/octet-stream"],
  ["binary/octet-stream", "application/octet-stream"],
  ["application/binary", "application/octet-stream"],
  ["application/x-binary", "application/octet-stream"],
  ["video/m4v", "video/mp4"],
  ["application/mp4", "video/mp4"],
  ["video/x-quicktime", "video/quicktime"],
  ["image/heic-sequence", "image/heic"],
  ["image/svg+xml", "image/svg+xml"],
])("a file that is declared as %s counts as %s", (contentType, type) => {
  expect(foldContentType(contentType)).toBe(type);
});

test("a file of unknown type may have the size of a video", () => {
  const contentType = "application/octet-stream";
  expect(checkDeclared({ contentType, bytes: 1000 }, limits)).toBeUndefined();
  expect(checkDeclared({ contentType, bytes: 1001 }, limits)).toMatchObject({ limit: 1000 });
});

test("an upload without a type, with another name of the declared type, or as bytes of an unknown type agrees with its declaration", () => {
  for (const sent of ["", "image/jpg", "image/jpeg; charset=binary", "binary/octet-stream"])
    expect(agreesWith("image/jpeg", sent), sent).toBe(true);
  for (const sent of ["image/png", "multipart/form-data; boundary=x", "application/json"])
    expect(agreesWith("image/jpeg", sent), sent).toBe(false);
});

test("an upload of any accepted type agrees with a declaration that leaves the type open, and a form or JSON does not", () => {
  for (const sent of ["", "image/jpg", "video/mp4", "application/octet-stream"])
    expect(agreesWith("application/octet-stream", sent), sent).toBe(true);
  for (const sent of ["multipart/form-data; boundary=x", "application/json", "text/html"])
    expect(agreesWith("application/octet-stream", sent), sent).toBe(false);
});
