import { expect, test } from "vitest";
import { demoPieces } from "#src/demo-pieces.ts";

const account = (platform: string) => ({
  id: platform,
  platform,
  username: "ann",
  externalId: "1",
});
const NOW = new Date("2026-11-20T10:00:00.000Z");

test("each account gets what its platform takes", () => {
  const accounts = ["x", "instagram", "youtube"].map(account);
  expect(demoPieces(accounts, NOW).map(({ kind, accountIds }) => [kind, accountIds])).toEqual([
    ["text", ["x"]],
    ["image", ["x", "instagram"]],
    ["video", ["x", "youtube"]],
  ]);
});

test("a piece that no platform accepts is not published", () => {
  expect(demoPieces([account("youtube")], NOW).map(({ kind }) => kind)).toEqual(["video"]);
  expect(demoPieces([], NOW)).toEqual([]);
});

test("platforms are told what they demand, and others are not spoken of", () => {
  const options = demoPieces(["x", "youtube"].map(account), NOW).map((piece) => piece.options);
  expect(options).toEqual([{}, {}, { youtube: { title: "A video from Postrider" } }]);
});
