import { expect, test } from "vitest";
import { placeBeside } from "./place-beside.ts";

const page = { width: 400, height: 600 };
const size = { width: 200, height: 150 };
const anchor = (left: number, top: number) => ({ left, top, right: left + 40, bottom: top + 30 });

test("a popover stands below its anchor", () => {
  expect(placeBeside(anchor(50, 100), size, page, "start")).toEqual({ top: 134, left: 50 });
});

test("it stands above where there is more room, and never outside of the window", () => {
  expect(placeBeside(anchor(350, 550), size, page, "start")).toEqual({ top: 396, left: 192 });
  expect(placeBeside(anchor(10, 100), size, page, "end")).toEqual({ top: 134, left: 8 });
});
