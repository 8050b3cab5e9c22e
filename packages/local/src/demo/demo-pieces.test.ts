import { expect, test } from "vitest";
import { demoPieces } from "#src/demo/demo-pieces.ts";

const account = (platform: string) => ({
  id: platform,
  platform,
  username: "ann",
  externalId: "1",
});
const NOW = new Date("2026-11-20T10:00:00.000Z");

test("the demo publishes to each account only the kinds of posts that its platform accepts", () => {
  const accounts = ["x", "instagram", "youtube"].map(account);
  expect(demoPieces(accounts, NOW).map(({ kind, accountIds }) => [kind, accountIds])).toEqual([
    ["text", ["x"]],
    ["image", ["x", "instagram"]],
    ["video", ["x", "youtube"]],
  ]);
});

test("the demo does not publish a kind of post that no connected platform accepts", () => {
  expect(demoPieces([account("youtube")], NOW).map(({ kind }) => kind)).toEqual(["video"]);
  expect(demoPieces([], NOW)).toEqual([]);
});

test("a demo post has the required options of the platforms that it goes to, and no options for other platforms", () => {
  const options = demoPieces(["x", "youtube"].map(account), NOW).map((piece) => piece.options);
  expect(options).toEqual([{}, {}, { youtube: { title: "A video from Postrider" } }]);
});
