import { expect, test } from "vitest";
import { mediaSource } from "./media-source.ts";

const PAGE = "http://127.0.0.1:3000";
const STORE = "https://s3.example.com";

test("a file of this installation is loaded from the origin of the page", () => {
  const url = "https://postrider.example.com/media/a.jpg?token=b";
  expect(mediaSource(url, PAGE, [])).toBe("/media/a.jpg?token=b");
});

test("a file of the object store is loaded from there", () => {
  expect(mediaSource(`${STORE}/a.jpg`, PAGE, [STORE])).toBe(`${STORE}/a.jpg`);
});
