import { expect, test } from "vitest";
import { keyNameOf, matchSequence } from "./key-names.ts";

const press = (
  key: string,
  code: string,
  held: Partial<Record<"ctrlKey" | "metaKey" | "altKey", true>> = {},
) => keyNameOf({ key, code, ctrlKey: false, metaKey: false, altKey: false, ...held });

test("a key is named by what it writes", () => {
  expect(press("c", "KeyC")).toBe("c");
  expect(press("?", "Slash")).toBe("?");
  expect(press("Escape", "Escape")).toBe("escape");
});

test("a key of a Korean keyboard is named by its place", () => {
  expect(press("ㅊ", "KeyC")).toBe("c");
});

test("Ctrl and Cmd are one modifier, and Alt with a digit is that digit on every keyboard", () => {
  expect(press("Enter", "Enter", { metaKey: true })).toBe("mod+enter");
  expect(press("s", "KeyS", { ctrlKey: true })).toBe("mod+s");
  expect(press("¡", "Digit1", { altKey: true })).toBe("alt+1");
});

test("a modifier alone is not a key", () => {
  expect(press("Shift", "ShiftLeft")).toBeUndefined();
});

test("two keys in a row go before one, and the newest layer goes before an older one", () => {
  const layers = [{ j: "screen" }, { "g p": "posts", p: "frame", j: "frame" }];
  expect(matchSequence(layers, "g", "p")).toBe("posts");
  expect(matchSequence(layers, undefined, "p")).toBe("frame");
  expect(matchSequence(layers, undefined, "j")).toBe("screen");
  expect(matchSequence(layers, "g", "x")).toBeUndefined();
});
